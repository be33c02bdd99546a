"""Sees a sender whose address stood on a list of networks when the comment came in."""

from __future__ import annotations

from service.domain.comment import Comment, Listing, ListKind
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.listings import listed


def listed_address(comment: Comment, _history: History) -> Signal | None:
    """Fire on an address that a list of networks holds, less the older the list was."""
    return listed("listed_address", comment, ListKind.NETWORKS, what="comes from an address")


def _listed(age_days: float, kind: ListKind = ListKind.NETWORKS) -> Listing:
    return Listing(list_name="abuse", kind=kind, age_days=age_days)


_TEXT = "Same here, the third valve was stuck."

LISTED_ADDRESS = Detector(
    name="listed_address",
    detect=listed_address,
    fires_on=(
        Example(text=_TEXT, listings=(_listed(0.2),)),
        Example(text=_TEXT, listings=(_listed(45.0),)),
        Example(text=_TEXT, listings=(_listed(1.0), _listed(3.0))),
    ),
    silent_on=(
        Example(text=_TEXT),
        # A household of today does not answer for the one that had its address years ago.
        Example(text=_TEXT, listings=(_listed(1_500.0),)),
        Example(text=_TEXT, listings=(_listed(1.0, ListKind.DOMAINS),)),
    ),
)
