"""Sees a link to a reference that readers commonly cite."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.reference_hosts import is_reference
from service.signals.spans import spans_of
from service.signals.view import view_of


def reference_link(comment: Comment, _history: History) -> Signal | None:
    """Fire where every link that is offered leads to a common reference: evidence for ham."""
    links = view_of(comment).open_links
    if not links or not all(is_reference(link.host, link.domain) for link in links):
        return None
    return Signal(
        name="reference_link",
        strength=1.0,
        reason="links only to references that readers commonly cite",
        spans=spans_of((link.start, link.end) for link in links),
    )


REFERENCE_LINK = Detector(
    name="reference_link",
    detect=reference_link,
    fires_on=(
        Example(text="It is called water hammer: https://en.wikipedia.org/wiki/Water_hammer"),
        Example(text="Fixed in https://github.com/valve/pump/pull/12"),
        Example(text="See [the docs](https://docs.python.org/3/library/re.html)"),
    ),
    silent_on=(
        Example(text="https://en.wikipedia.org/wiki/Loan and https://quick-loans-today.com"),
        Example(text="No link here, only the words wikipedia and github"),
        Example(text="wikipedia.org.cheap-pills.shop/wiki"),
    ),
)
