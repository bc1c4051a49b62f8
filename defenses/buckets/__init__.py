"""Buckets of records with distinct sensitive values: group creation, negative association rules, matchings."""
