"""Measures of information loss: generalization, suppression, divergence, counting queries, group sizes."""
