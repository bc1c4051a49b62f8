"""Columns of a table: plain values, domains, times, required columns, and values of equal text."""
