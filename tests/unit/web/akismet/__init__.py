"""The Akismet server, one file at a time."""
