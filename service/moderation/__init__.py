"""Use cases, one verb a file: plain functions over the ports."""
