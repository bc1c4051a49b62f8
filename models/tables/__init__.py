"""Tables: schemas, views, groupings, releases, hierarchies, distances between values; files are read here."""
