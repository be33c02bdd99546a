"""The tables, as the newest migration leaves them."""
