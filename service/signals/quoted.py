"""Tells words that a writer quotes from words that a writer says."""

from __future__ import annotations

_OPENING = "\"“”„«»‘'‹「『"


def is_quoted(text: str, start: int) -> bool:
    """Say whether a quotation mark stands right before a position or opened in its line."""
    line = text[max(0, start - 200) : start].rpartition("\n")[2]
    if line.rstrip()[-1:] and line.rstrip()[-1:] in _OPENING:
        return True
    return (
        line.count('"') % 2 == 1
        or line.count("“") > line.count("”")
        or line.count("«") > line.count("»")
    )
