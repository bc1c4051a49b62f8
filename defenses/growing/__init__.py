"""Orders of records, groups grown along an order, and placement of the leftover records."""
