"""The JSON API: its routes, what they take and answer, its description."""
