"""Clusters of records with similar priors, and groups within them."""
