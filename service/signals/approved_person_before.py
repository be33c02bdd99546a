"""Sees a person, by e-mail address, whose earlier comments moderators approved: a regular."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import TRUSTED_EMAIL, approved_before, decided


def approved_person_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on the e-mail address lean to approving; a name proves nobody."""
    return approved_before("approved_person_before", history, (TRUSTED_EMAIL,))


_TEXT = "Same here, the third valve was stuck."


APPROVED_PERSON_BEFORE = Detector(
    name="approved_person_before",
    detect=approved_person_before,
    fires_on=(
        decided(_TEXT, "email", approved=2),
        decided(_TEXT, "email", approved=40),
        decided(_TEXT, "email", approved=40, rejected=2),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "email", approved=1),
        decided(_TEXT, "email", approved=2, rejected=2),
        # Anybody can write under the name of a regular.
        decided(_TEXT, "name", approved=40),
        decided(_TEXT, "email", rejected=7),
    ),
)
