"""Output on the terminal: tables, notices, error messages."""
