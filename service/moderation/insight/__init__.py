"""How it went: figures, drift, the replay of an archive."""
