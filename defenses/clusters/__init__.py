"""Clusters of records with similar priors, and groups within each cluster, for UHRA and k-anonymity-primacy."""
