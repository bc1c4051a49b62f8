"""Data sets: real tables as views, and simulations with exact background knowledge."""
