"""Sees a person, by e-mail address, whose earlier comments moderators approved: a regular."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import TRUSTED_EMAIL, clearest_approval, comments


def approved_person_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on the e-mail address lean to approving; a name proves nobody."""
    found = clearest_approval(history, (TRUSTED_EMAIL,))
    if found is None:
        return None
    return Signal(
        name="approved_person_before",
        strength=found.lean,
        reason=f"moderators approved {comments(found.count)} {found.where}",
    )


_TEXT = "Same here, the third valve was stuck."


def _example(key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    standing = Standing(everywhere=Record(rejected=rejected, approved=approved))
    return Example(text=_TEXT, history=History(**{key: standing}))


APPROVED_PERSON_BEFORE = Detector(
    name="approved_person_before",
    detect=approved_person_before,
    fires_on=(
        _example("email", approved=2),
        _example("email", approved=40),
        _example("email", approved=40, rejected=2),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("email", approved=1),
        _example("email", approved=2, rejected=2),
        # Anybody can write under the name of a regular.
        _example("name", approved=40),
        _example("email", rejected=7),
    ),
)
