"""Cleaning of tables: equal values, times, numbers, missing cells and repeated records, each changed with a report or refused."""
