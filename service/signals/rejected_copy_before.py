"""Sees a near-copy of comments that moderators rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import COPY, clearest_rejection, comments


def rejected_copy_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on near-copies of the text lean to rejecting."""
    found = clearest_rejection(history, (COPY,))
    if found is None:
        return None
    return Signal(
        name="rejected_copy_before",
        strength=found.lean,
        reason=f"moderators rejected {comments(found.count)} {found.where}",
    )


_TEXT = "Same here, the third valve was stuck."


def _example(key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    standing = Standing(everywhere=Record(rejected=rejected, approved=approved))
    return Example(text=_TEXT, history=History(**{key: standing}))


REJECTED_COPY_BEFORE = Detector(
    name="rejected_copy_before",
    detect=rejected_copy_before,
    fires_on=(
        _example("content", rejected=1),
        _example("content", rejected=9, approved=1),
        _example("content", rejected=40),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("content", rejected=1, approved=1),
        _example("content", rejected=3, approved=9),
        _example("content", approved=7),
    ),
)
