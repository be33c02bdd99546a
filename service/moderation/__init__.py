"""Use cases: plain functions over the ports."""
