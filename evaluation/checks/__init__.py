"""Independent checkers: requirements recomputed from published tables, apart from the code that enforces them."""
