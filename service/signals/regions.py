"""Finds the parts of a comment that are not its writer's running prose: code and quoted lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

Range = tuple[int, int]

# Every alternative either consumes what it scanned or scans a bounded segment: linear on any text.
# Lines indented by four spaces are left out: most comment forms show them as ordinary text.
_SHIELDED = re.compile(
    r"```.*?(?:```|\Z)"
    r"|<(?:code|pre|blockquote)>.*?(?:</(?:code|pre|blockquote)>|\Z)"
    r"|\[(?:code|quote)\].*?(?:\[/(?:code|quote)\]|\Z)"
    r"|`[^`\n]{1,300}`"
    r"|(?m:^)[ ]{0,3}>[^\n]*",
    re.DOTALL | re.IGNORECASE,
)
_MAY_HOLD_ONE = re.compile(r"[`>\[]")
_LAST = 1 << 62


def shielded_ranges(text: str) -> tuple[Range, ...]:
    """Return the ranges of code and quotation, in order and without overlap."""
    if not _MAY_HOLD_ONE.search(text):
        return ()
    return tuple(m.span() for m in _SHIELDED.finditer(text))


def inside(ranges: Sequence[Range], position: int) -> bool:
    """Return True if a position lies in one of the ordered, separate ranges."""
    index = bisect_right(ranges, (position, _LAST)) - 1
    return index >= 0 and position < ranges[index][1]
