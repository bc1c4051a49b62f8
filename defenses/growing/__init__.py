"""Orders of records, groups grown along them, and what becomes of the records that are left."""
