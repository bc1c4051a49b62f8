"""Suppression of items until every group satisfies a requirement on labels, at the least cost."""
