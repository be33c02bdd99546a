"""Adapters of the store ports: one means of keeping things a file, no verdict logic."""
