"""Templates, style and script of the page of a report."""
