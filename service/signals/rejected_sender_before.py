"""Sees a sender whose earlier comments moderators rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Tally
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.senders import lean, plural, tallies_of


def rejected_sender_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on one of the sender's keys lean to rejecting, naming the clearest."""
    strength, key, count = max(
        (lean(tally.rejected, tally.approved) * factor, key, tally.rejected)
        for key, tally, factor in tallies_of(history)
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
        Example(text=_TEXT, history=History(address=Tally(rejected=4))),
        Example(text=_TEXT, history=History(domains=Tally(rejected=9, approved=1))),
        Example(text=_TEXT, history=History(network=Tally(rejected=1))),
    ),
    silent_on=(
        Example(text=_TEXT),
        Example(text=_TEXT, history=History(address=Tally(rejected=1, approved=1))),
        Example(text=_TEXT, history=History(email=Tally(approved=7))),
    ),
)
