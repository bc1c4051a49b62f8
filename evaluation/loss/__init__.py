"""Measures of information loss: generalization, suppression, counting queries, class sizes."""
