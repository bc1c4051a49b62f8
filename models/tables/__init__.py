"""Tables: schemas, views, histories, groupings, releases, hierarchies, distances between values, and table files."""
