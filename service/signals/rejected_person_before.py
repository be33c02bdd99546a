"""Sees a person, by e-mail address or name, whose earlier comments moderators rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, Standing
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import EMAIL, NAME, clearest_rejection, comments


def rejected_person_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on the e-mail address or the name lean to rejecting."""
    found = clearest_rejection(history, (EMAIL, NAME))
    if found is None:
        return None
    return Signal(
        name="rejected_person_before",
        strength=found.lean,
        reason=f"moderators rejected {comments(found.count)} {found.where}",
    )


_TEXT = "Same here, the third valve was stuck."


def _example(key: str, *, rejected: float = 0.0, approved: float = 0.0) -> Example:
    standing = Standing(everywhere=Record(rejected=rejected, approved=approved))
    return Example(text=_TEXT, history=History(**{key: standing}))


REJECTED_PERSON_BEFORE = Detector(
    name="rejected_person_before",
    detect=rejected_person_before,
    fires_on=(
        _example("email", rejected=1),
        _example("email", rejected=9, approved=1),
        _example("name", rejected=3),
    ),
    silent_on=(
        Example(text=_TEXT),
        _example("email", rejected=1, approved=1),
        # "Tom" is many people: two rejected comments under a name say nothing.
        _example("name", rejected=2),
        _example("name", rejected=4, approved=1),
        _example("email", approved=7),
        _example("address", rejected=7),
    ),
)
