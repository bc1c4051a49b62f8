"""Leaving out items of groups until they satisfy a requirement, at the least cost."""
