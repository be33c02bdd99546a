"""Sees an address or a network whose earlier comments moderators nearly all approved."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import SHARED, approved_before, decided, is_known


def approved_address_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on address or network lean clearly to approving.

    Silent for a person who has decisions of their own: these outrank the neighbours'.
    """
    if is_known(history):
        return None
    return approved_before("approved_address_before", history, SHARED)


_TEXT = "Same here, the third valve was stuck."


APPROVED_ADDRESS_BEFORE = Detector(
    name="approved_address_before",
    detect=approved_address_before,
    fires_on=(
        decided(_TEXT, "address", approved=2),
        decided(_TEXT, "network", approved=5),
        decided(_TEXT, "address", approved=40, rejected=1),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "address", approved=1),
        decided(_TEXT, "address", approved=10, rejected=3),
        decided(_TEXT, "network", approved=2),
        decided(_TEXT, "email", approved=7),
    ),
)
