"""The programs that run: each starts, does one thing, and stops when told to."""
