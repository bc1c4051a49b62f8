"""Items that are harmless until a public table says what they give away."""
