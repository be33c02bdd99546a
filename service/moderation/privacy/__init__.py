"""People are forgotten and erased, and what is old is pruned."""
