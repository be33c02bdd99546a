"""Histories in Valkey, and what spares everybody the wait for it."""
