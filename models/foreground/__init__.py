"""What published groups teach of the population: the global distribution of an attribute set, and how it is found."""
