"""Labelled comments: read, corrected, grouped, split."""
