"""Starts all processes of Slopsieve, keeps them running and stops them in order."""
