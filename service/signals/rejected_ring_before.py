"""Sees a sender tied to others, by what strangers do not share, whose comments people rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import RING, decided, rejected_before


def rejected_ring_before(comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on comments of the other senders of a ring lean to rejecting."""
    return rejected_before("rejected_ring_before", history, (RING,))


_TEXT = "Same here, the third valve was stuck."


REJECTED_RING_BEFORE = Detector(
    name="rejected_ring_before",
    detect=rejected_ring_before,
    fires_on=(
        decided(_TEXT, "ring", rejected=2),
        decided(_TEXT, "ring", rejected=9, approved=1),
        decided(_TEXT, "ring", rejected=40),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "ring", rejected=1),
        decided(_TEXT, "ring", rejected=4, approved=1),
        decided(_TEXT, "ring", approved=7),
    ),
)
