"""People look, search and decide."""
