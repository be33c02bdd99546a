"""Sees a link to a domain that stood on a list of domains when the comment came in."""

from __future__ import annotations

from service.domain.comment import Comment, Listing, ListKind
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.listings import listed


def listed_domain(comment: Comment, _history: History) -> Signal | None:
    """Fire on a linked domain that a list of domains holds, less the older the list was."""
    return listed("listed_domain", comment, ListKind.DOMAINS, what="links to a domain")


def _listed(age_days: float, kind: ListKind = ListKind.DOMAINS) -> Listing:
    return Listing(list_name="spammers", kind=kind, age_days=age_days)


_TEXT = "I wrote about the same valve at https://valves.example.com last year."

LISTED_DOMAIN = Detector(
    name="listed_domain",
    detect=listed_domain,
    fires_on=(
        Example(text=_TEXT, listings=(_listed(2.0),)),
        Example(text="Nice", author_url="https://a.example.com", listings=(_listed(400.0),)),
        Example(text=_TEXT, listings=(_listed(30.0), _listed(90.0))),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(text=_TEXT, listings=(_listed(9_000.0),)),
        Example(text=_TEXT, listings=(_listed(1.0, ListKind.NETWORKS),)),
    ),
)
