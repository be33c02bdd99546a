"""Stores in SQL, Valkey and files; they contain no verdict logic."""
