"""Clusters of people of whom like things are believed, and groups within them."""
