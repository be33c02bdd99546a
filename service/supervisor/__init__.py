"""Starts every process of Slopsieve, keeps them running and stops them in order."""
