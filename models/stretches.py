"""Splits a text into stretches, such as sentences and clauses, and joins the chosen ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from models.text import window_ends

Stretch = tuple[int, int]

# Where a stretch may end: after a sentence or clause, before a link or a spaced dash.
_BREAK = re.compile(
    r"(?<=[.!?…,;:])\s+|(?<=[。！？])|\n+|\s+(?=https?://)|\s+(?=[-–—]\s)", re.IGNORECASE
)
# More stretches than this are joined to longer ones, so that a text of commas costs no more.
MAX_STRETCHES = 64
# Stretches further apart than this have something between them that was not read.
_MAX_GAP = 100


def split_stretches(text: str) -> list[Stretch]:
    """Return the stretches of a text, in order, as half-open offsets without outer blanks."""
    found: list[Stretch] = []
    for start, end in window_ends(text):
        shortest = (end - start) // (MAX_STRETCHES // 2)
        found += _split(text, start, end, shortest)
    return found


def _split(text: str, start: int, end: int, shortest: int) -> Iterator[Stretch]:
    """Yield the stretches between `start` and `end`, all but the last at least `shortest` long."""
    for match in _BREAK.finditer(text, start, end):
        if match.start() - start >= max(1, shortest):
            yield start, match.start()
            start = match.end()
    if text[start:end].strip():
        yield start, end


def join_stretches(stretches: Sequence[Stretch], chosen: Sequence[bool]) -> tuple[Stretch, ...]:
    """Return the chosen stretches in order, neighbours joined to one."""
    joined: list[Stretch] = []
    last = -2
    for place, (start, end) in enumerate(stretches):
        if not chosen[place]:
            continue
        if last == place - 1 and start - joined[-1][1] <= _MAX_GAP:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        last = place
    return tuple(joined)
