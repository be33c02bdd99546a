"""Sees an address or a network whose earlier comments moderators nearly all rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import SHARED, clearest_rejection, comments, is_known


def rejected_address_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on address or network lean clearly to rejecting.

    Silent for a person who has decisions of their own: these outrank the neighbours'.
    """
    if is_known(history):
        return None
    found = clearest_rejection(history, SHARED)
    if found is None:
        return None
    return Signal(
        name="rejected_address_before",
        strength=found.lean,
        reason=f"moderators rejected {comments(found.count)} {found.where}",
    )


_TEXT = "Same here, the third valve was stuck."


def _example(key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    standing = Standing(everywhere=Record(rejected=rejected, approved=approved))
    return Example(text=_TEXT, history=History(**{key: standing}))


REJECTED_ADDRESS_BEFORE = Detector(
    name="rejected_address_before",
    detect=rejected_address_before,
    fires_on=(
        _example("address", rejected=2),
        _example("network", rejected=5),
        _example("wide_network", rejected=12, approved=1),
        _example("system", rejected=40),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("address", rejected=1),
        # A university, an office, a carrier: sincere people write from there, too.
        _example("address", rejected=10, approved=2),
        _example("system", rejected=900, approved=300),
        Example(
            text=_TEXT,
            history=History(
                address=Standing(everywhere=Record(rejected=20)),
                email=Standing(everywhere=Record(approved=1)),
            ),
        ),
    ),
)
