"""What a group must satisfy, and what of a group it is judged by."""
