"""Algorithms that several defenses share: orders of records, growth of groups, clusters, search for near groups."""
