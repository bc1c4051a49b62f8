"""Quasi-sensitive items: item sets of records, and external knowledge that links them to sensitive labels."""
