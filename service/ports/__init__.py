"""Protocols that use cases depend on, and the values that stores accept and return."""
