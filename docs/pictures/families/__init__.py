"""Pictures of the members of each family, one module per family."""
