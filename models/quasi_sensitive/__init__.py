"""Quasi-sensitive items: records of items, and external knowledge that links them to sensitive labels."""
