"""Sees an author's address that is named like a shop or a service."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.hosts import host_of, registered_domain
from service.signals.reference_hosts import is_reference
from service.signals.shop_names import sounds_commercial


def commercial_author_link(comment: Comment, _history: History) -> Signal | None:
    """Fire on an author's address named like a shop, whatever the text says.

    A plain fact: people who sell have opinions too. `author_link` asks about the text besides.
    """
    host = host_of(comment.author.url or "")
    if not host or not sounds_commercial(host) or is_reference(host, registered_domain(host)):
        return None
    return Signal(
        name="commercial_author_link",
        strength=1.0,
        reason="comes with an author address named like a shop or a service",
    )


_TEXT = "Mine hissed until I opened the third valve."

COMMERCIAL_AUTHOR_LINK = Detector(
    name="commercial_author_link",
    detect=commercial_author_link,
    fires_on=(
        Example(text=_TEXT, author_url="https://quick-loans-today.com/"),
        Example(text="Nice.", author_url="http://essayhelp.online"),
        Example(text=_TEXT, author_url="hot-casino-bonus.bet"),
    ),
    silent_on=(
        Example(text=_TEXT, author_url="https://ana-karlsson.example.org"),
        Example(text=_TEXT, author_url="https://github.com/valve-shop"),
        Example(text="See quick-loans-today.com, which took my money"),
        Example(text=_TEXT),
    ),
)
