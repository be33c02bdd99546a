"""Reads other systems' exports of comments, of any size."""
