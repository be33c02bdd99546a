"""Examines an installation: small checks, each with its finding and a remedy."""
