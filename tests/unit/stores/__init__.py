"""Tests of single parts of the stores."""
