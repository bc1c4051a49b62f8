"""The report of a publication: risk, exposed respondents, leak of the past, utility and stricter settings, on one page."""
