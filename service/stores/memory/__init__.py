"""Stores in memory, held to the contracts of the SQL stores."""
