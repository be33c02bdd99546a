"""Turns links and pairs of offsets into the spans of a signal."""

from __future__ import annotations

from collections.abc import Iterable

from service.domain.verdict import Span
from service.signals.links import Link

# A page with more marks than this helps nobody; the rest of the evidence is in the reason.
MAX_SPANS = 20


def spans_of(pairs: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    """Return the first `MAX_SPANS` pairs as spans, in the order of the text."""
    ordered = sorted({(start, end) for start, end in pairs if start < end})
    return tuple(Span(start=start, end=end) for start, end in ordered[:MAX_SPANS])


def spans_of_links(links: Iterable[Link]) -> tuple[Span, ...]:
    """Return the spans of links, markup included."""
    return spans_of((link.start, link.end) for link in links)
