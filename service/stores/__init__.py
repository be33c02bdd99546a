"""Adapters for the ports, one a backend: SQL, Valkey, memory."""
