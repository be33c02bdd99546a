"""Sees a sender whose earlier comments moderators rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.senders import lean, plural, records_of


def rejected_sender_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on one of the sender's keys lean to rejecting, naming the clearest."""
    strength, key, count = max(
        (lean(record.rejected, record.approved) * factor, key, record.rejected)
        for key, record, factor in records_of(history)
    )
    if strength <= 0.0:
        return None
    return Signal(
        name="rejected_sender_before",
        strength=min(1.0, strength),
        reason=f"moderators rejected {plural(count)} from {key}",
    )


_TEXT = "Same here, the third valve was stuck."

REJECTED_SENDER_BEFORE = Detector(
    name="rejected_sender_before",
    detect=rejected_sender_before,
    fires_on=(
        Example(text=_TEXT, history=History(address=Standing(everywhere=Record(rejected=4)))),
        Example(
            text=_TEXT, history=History(domains=Standing(everywhere=Record(rejected=9, approved=1)))
        ),
        Example(text=_TEXT, history=History(network=Standing(everywhere=Record(rejected=1)))),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(
            text=_TEXT, history=History(address=Standing(everywhere=Record(rejected=1, approved=1)))
        ),
        Example(text=_TEXT, history=History(email=Standing(everywhere=Record(approved=7)))),
    ),
)
