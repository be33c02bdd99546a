"""How much each decision may teach, and what may teach nothing."""
