"""Comments come in, change, and go."""
