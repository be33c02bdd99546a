"""Search, its export, and searches that are kept."""
