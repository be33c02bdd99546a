"""Sees an address or a network whose earlier comments moderators nearly all approved."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import SHARED, clearest_approval, comments, is_known


def approved_address_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on address or network lean clearly to approving.

    Silent for a person who has decisions of their own: these outrank the neighbours'.
    """
    if is_known(history):
        return None
    found = clearest_approval(history, SHARED)
    if found is None:
        return None
    return Signal(
        name="approved_address_before",
        strength=found.lean,
        reason=f"moderators approved {comments(found.count)} {found.where}",
    )


_TEXT = "Same here, the third valve was stuck."


def _example(key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    standing = Standing(everywhere=Record(rejected=rejected, approved=approved))
    return Example(text=_TEXT, history=History(**{key: standing}))


APPROVED_ADDRESS_BEFORE = Detector(
    name="approved_address_before",
    detect=approved_address_before,
    fires_on=(
        _example("address", approved=2),
        _example("network", approved=5),
        _example("address", approved=40, rejected=1),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("address", approved=1),
        _example("address", approved=10, rejected=3),
        _example("network", approved=2),
        _example("email", approved=7),
    ),
)
