"""Published tables of any source: their labels, their groups, and the persons of a register who fit them."""
