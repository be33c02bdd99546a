"""Sees a person, by e-mail address, account or name, whose earlier comments moderators rejected."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import ACCOUNT, EMAIL, NAME, decided, rejected_before


def rejected_person_before(_comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on the e-mail address, the account or the name lean to rejecting."""
    return rejected_before("rejected_person_before", history, (EMAIL, ACCOUNT, NAME))


_TEXT = "Same here, the third valve was stuck."


REJECTED_PERSON_BEFORE = Detector(
    name="rejected_person_before",
    detect=rejected_person_before,
    fires_on=(
        decided(_TEXT, "email", rejected=1),
        decided(_TEXT, "email", rejected=9, approved=1),
        decided(_TEXT, "account", rejected=1),
        decided(_TEXT, "name", rejected=3),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "email", rejected=1, approved=1),
        # "Tom" is many people: two rejected comments under a name say nothing.
        decided(_TEXT, "name", rejected=2),
        decided(_TEXT, "name", rejected=4, approved=1),
        decided(_TEXT, "email", approved=7),
        decided(_TEXT, "address", rejected=7),
    ),
)
