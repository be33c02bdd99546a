"""How it went: figures, the replay of an archive."""
