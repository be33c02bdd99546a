"""Sees a link whose words name one site while it leads to another."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.hosts import registered_domain
from service.signals.links import Link, find_links
from service.signals.spans import spans_of
from service.signals.view import view_of


def anchor_target_mismatch(comment: Comment, _history: History) -> Signal | None:
    """Fire where the visible words of a link are an address of another registered domain."""
    links = [link for link in view_of(comment).open_links if link.anchor and _disagree(link)]
    if not links:
        return None
    return Signal(
        name="anchor_target_mismatch",
        strength=1.0,
        reason="shows the address of one site on a link that leads to another",
        spans=spans_of((link.start, link.end) for link in links),
    )


def _disagree(link: Link) -> bool:
    shown = find_links((link.anchor or "")[:300])
    return bool(shown) and all(
        registered_domain(s.host) and registered_domain(s.host) != link.domain for s in shown
    )


ANCHOR_TARGET_MISMATCH = Detector(
    name="anchor_target_mismatch",
    detect=anchor_target_mismatch,
    fires_on=(
        Example(text='Explained here: <a href="http://spin-palace.bet/x">en.wikipedia.org</a>'),
        Example(text="See [https://docs.python.org/3](https://cheap-courses.shop/py) for more"),
        Example(text="[url=http://pills-direct.ru]www.bbc.co.uk/health[/url]"),
    ),
    silent_on=(
        Example(text='The table is on <a href="https://docs.python.org/3/">python.org</a>'),
        Example(text="[my notes](https://ana-notes.example.com/valves), see main.py there"),
        Example(text="[www.bbc.co.uk](https://www.bbc.co.uk/news) had it yesterday"),
        Example(text="[ASP.NET guide](https://learn.microsoft.com/aspnet)"),
    ),
)
