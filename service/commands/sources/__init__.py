"""Reads what other systems export of their comments, whatever the size."""
