"""Sees a near-copy of comments that moderators rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import COPY, decided, rejected_before


def rejected_copy_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on near-copies of the text lean to rejecting."""
    return rejected_before("rejected_copy_before", history, (COPY,))


_TEXT = "Same here, the third valve was stuck."


REJECTED_COPY_BEFORE = Detector(
    name="rejected_copy_before",
    detect=rejected_copy_before,
    fires_on=(
        decided(_TEXT, "content", rejected=1),
        decided(_TEXT, "content", rejected=9, approved=1),
        decided(_TEXT, "content", rejected=40),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "content", rejected=1, approved=1),
        decided(_TEXT, "content", rejected=3, approved=9),
        decided(_TEXT, "content", approved=7),
    ),
)
