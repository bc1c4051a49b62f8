"""Tables: schemas, views, histories, groupings, releases, hierarchies, sensitive sets, distances; their columns and files."""
