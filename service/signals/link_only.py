"""Sees a comment that is a link and nothing else."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.spans import spans_of
from service.signals.uncommon_links import uncommon_links
from service.signals.view import TextView, view_of

# "see this", "Worth reading:" is what hurried readers put beside a link.
_MAX_WORDS = 2


def link_only(comment: Comment, _history: History) -> Signal | None:
    """Fire where at most two words stand outside the links, and none leads to a reference."""
    links = uncommon_links(comment)
    if not links or _words_outside(view_of(comment)) > _MAX_WORDS:
        return None
    return Signal(
        name="link_only",
        strength=1.0,
        reason="gives a link and says nothing about it or about the post",
        spans=spans_of((link.start, link.end) for link in links),
    )


def _words_outside(view: TextView) -> int:
    """Count the words outside links, up to one more than are let be."""
    count = done = 0
    for link in view.links:
        count += len(view.text[done : link.start].split())
        done = link.end
        if count > _MAX_WORDS:
            return count
    return count + len(view.text[done:].split())


LINK_ONLY = Detector(
    name="link_only",
    detect=link_only,
    fires_on=(
        Example(text="https://valvehaus.shop/sale"),
        Example(text="<a href='http://mintloan.example.com'>quick loans no papers</a>"),
        Example(text="good post! www.drainpros.example.com"),
    ),
    silent_on=(
        Example(text="https://en.wikipedia.org/wiki/Water_hammer"),
        Example(text="My own notes with photos: https://ana-karlsson.example.org/valves"),
        Example(text="+1"),
        Example(text="`curl https://api.example.com/v1`"),
    ),
)
