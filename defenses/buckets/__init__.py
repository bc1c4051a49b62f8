"""Buckets of records with distinct sensitive values: bounded values, mined negative rules, matchings."""
