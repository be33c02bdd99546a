"""Stores in files: reputation lists and model versions."""
