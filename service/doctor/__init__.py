"""Examines an installation with small checks; each yields findings with remedies."""
