"""A first look at a file of records: types of columns, proposed roles, and the next command."""
