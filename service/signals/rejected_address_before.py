"""Sees an address or a network whose earlier comments moderators nearly all rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, TrackRecord
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import SHARED, decided, is_known, rejected_before


def rejected_address_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on address or network lean clearly to rejecting.

    Silent for a person who has decisions of their own: these outrank the neighbours'.
    """
    if is_known(history):
        return None
    return rejected_before("rejected_address_before", history, SHARED)


_TEXT = "Same here, the third valve was stuck."


REJECTED_ADDRESS_BEFORE = Detector(
    name="rejected_address_before",
    detect=rejected_address_before,
    fires_on=(
        decided(_TEXT, "address", rejected=2),
        decided(_TEXT, "network", rejected=5),
        decided(_TEXT, "wide_network", rejected=12, approved=1),
        decided(_TEXT, "system", rejected=40),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "address", rejected=1),
        # A university, an office, a carrier: sincere people write from there, too.
        decided(_TEXT, "address", rejected=10, approved=2),
        decided(_TEXT, "system", rejected=900, approved=300),
        Example(
            text=_TEXT,
            history=History(
                address=TrackRecord(everywhere=Record(rejected=20)),
                email=TrackRecord(everywhere=Record(approved=1)),
            ),
        ),
    ),
)
