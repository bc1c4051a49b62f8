"""Foreground knowledge: global distributions of attribute sets, estimated from published groups."""
