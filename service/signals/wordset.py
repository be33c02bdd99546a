"""Writes a set of words as running text, so that long lists stay readable."""

from __future__ import annotations


def wordset(*lines: str) -> frozenset[str]:
    """Return the set of all words in the lines, parted by white space."""
    return frozenset(word for line in lines for word in line.split())
