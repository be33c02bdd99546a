"""Figures, drift and their plots."""
