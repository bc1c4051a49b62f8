"""Compiled kernels of the conditional Bernoulli law: moments of the cells of a group, given its number of records with a value."""
