"""Metrics for operators: counters and their exposition."""
