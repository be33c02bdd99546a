"""Tests of what speaks to sites."""
