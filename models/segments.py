"""Splits a text into segments, such as sentences and clauses, and joins chosen ones."""

import re
from collections.abc import Iterator, Sequence

from models.text import window_ends

Segment = tuple[int, int]

# A segment may end after a sentence or clause, and before a link or a spaced dash.
_BREAK = re.compile(
    r"(?<=[.!?…,;:])\s+|(?<=[。！？])|\n+|\s+(?=https?://)|\s+(?=[-–—]\s)", re.IGNORECASE
)
# Beyond this number segments become longer, so that a text of commas costs no more.
MAX_SEGMENTS = 64
# Between segments that are further apart, some text was not read.
_MAX_GAP = 100


def split_segments(text: str) -> list[Segment]:
    """Return a text's segments in order, as half-open offsets without outer blanks."""
    found: list[Segment] = []
    for start, end in window_ends(text):
        shortest = (end - start) // (MAX_SEGMENTS // 2)
        found += _split(text, start, end, shortest)
    return found


def _split(text: str, start: int, end: int, shortest: int) -> Iterator[Segment]:
    """Yield the segments between `start` and `end`, all but the last at least `shortest` long."""
    for match in _BREAK.finditer(text, start, end):
        if match.start() - start >= max(1, shortest):
            yield start, match.start()
            start = match.end()
    if text[start:end].strip():
        yield start, end


def join_segments(segments: Sequence[Segment], chosen: Sequence[bool]) -> tuple[Segment, ...]:
    """Return the chosen segments in order, with neighbours joined."""
    joined: list[Segment] = []
    last = -2
    for place, (start, end) in enumerate(segments):
        if not chosen[place]:
            continue
        if last == place - 1 and start - joined[-1][1] <= _MAX_GAP:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        last = place
    return tuple(joined)
