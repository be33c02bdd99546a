"""Sees a sender whose earlier comments moderators approved."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.senders import lean, plural, records_of


def approved_sender_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on one of the sender's keys lean to approving, naming the clearest."""
    strength, key, count = max(
        (lean(record.approved, record.rejected) * factor, key, record.approved)
        for key, record, factor in records_of(history)
    )
    if strength <= 0.0:
        return None
    return Signal(
        name="approved_sender_before",
        strength=min(1.0, strength),
        reason=f"moderators approved {plural(count)} from {key}",
    )


_TEXT = "Same here, the third valve was stuck."

APPROVED_SENDER_BEFORE = Detector(
    name="approved_sender_before",
    detect=approved_sender_before,
    fires_on=(
        Example(text=_TEXT, history=History(address=Standing(everywhere=Record(approved=4)))),
        Example(
            text=_TEXT, history=History(domains=Standing(everywhere=Record(approved=9, rejected=1)))
        ),
        Example(text=_TEXT, history=History(network=Standing(everywhere=Record(approved=1)))),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(
            text=_TEXT, history=History(address=Standing(everywhere=Record(approved=1, rejected=1)))
        ),
        Example(text=_TEXT, history=History(email=Standing(everywhere=Record(rejected=7)))),
    ),
)
