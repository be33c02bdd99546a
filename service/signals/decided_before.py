"""Sees on whose comments, and on what text, moderators mostly ruled one way: six of one shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from service.domain.comment import Comment
from service.domain.history import History, Record, TrackRecord
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import (
    ACCOUNT,
    COPY,
    EMAIL,
    MAIL_DOMAIN,
    NAME,
    SHARED,
    Key,
    approved_before,
    decided,
    is_known,
    rejected_before,
)


def _detector(
    name: str,
    lean_of: Callable[[str, History, Sequence[Key]], Signal | None],
    keys: Sequence[Key],
    *,
    outranked: bool = False,
    fires_on: tuple[Example, ...],
    silent_on: tuple[Example, ...],
) -> Detector:
    """Return a detector that fires where decisions under one of the keys lean its way.

    An `outranked` one is silent for a person who has decisions of their own: these say more than
    those on neighbours.
    """

    def detect(_comment: Comment, history: History) -> Signal | None:
        return None if outranked and is_known(history) else lean_of(name, history, keys)

    return Detector(
        name=name, detect=detect, fires_on=fires_on, silent_on=(Example(text=_TEXT), *silent_on)
    )


_TEXT = "Same here, the third valve was stuck."
_under = partial(decided, _TEXT)

REJECTED_PERSON_BEFORE = _detector(
    "rejected_person_before",
    rejected_before,
    (EMAIL, ACCOUNT, NAME),
    fires_on=(
        _under("email", rejected=1),
        _under("email", rejected=9, approved=1),
        _under("account", rejected=1),
        _under("name", rejected=3),
    ),
    silent_on=(
        _under("email", rejected=1, approved=1),
        # "Tom" is many people: two rejected comments under a name say nothing.
        _under("name", rejected=2),
        _under("name", rejected=4, approved=1),
        _under("email", approved=7),
        _under("address", rejected=7),
    ),
)

REJECTED_ADDRESS_BEFORE = _detector(
    "rejected_address_before",
    rejected_before,
    SHARED,
    outranked=True,
    fires_on=(
        _under("address", rejected=2),
        _under("network", rejected=5),
        _under("wide_network", rejected=12, approved=1),
        _under("system", rejected=40),
    ),
    silent_on=(
        _under("address", rejected=1),
        # A university, an office, a carrier: sincere people write from there, too.
        _under("address", rejected=10, approved=2),
        _under("system", rejected=900, approved=300),
        Example(
            text=_TEXT,
            history=History(
                address=TrackRecord(everywhere=Record(rejected=20)),
                email=TrackRecord(everywhere=Record(approved=1)),
            ),
        ),
    ),
)

APPROVED_ADDRESS_BEFORE = _detector(
    "approved_address_before",
    approved_before,
    SHARED,
    outranked=True,
    fires_on=(
        _under("address", approved=2),
        _under("network", approved=5),
        _under("address", approved=40, rejected=1),
    ),
    silent_on=(
        _under("address", approved=1),
        _under("address", approved=10, rejected=3),
        _under("network", approved=2),
        _under("email", approved=7),
    ),
)

REJECTED_MAIL_DOMAIN_BEFORE = _detector(
    "rejected_mail_domain_before",
    rejected_before,
    (MAIL_DOMAIN,),
    outranked=True,
    fires_on=(
        _under("email_domain", rejected=3),
        _under("email_domain", rejected=30),
        _under("email_domain", rejected=30, approved=2),
    ),
    silent_on=(
        _under("email_domain", rejected=2),
        # A free mail service.
        _under("email_domain", rejected=900, approved=300),
        _under("email_domain", approved=7),
    ),
)

# Near-copies of the text.
REJECTED_COPY_BEFORE = _detector(
    "rejected_copy_before",
    rejected_before,
    (COPY,),
    fires_on=(
        _under("content", rejected=1),
        _under("content", rejected=9, approved=1),
        _under("content", rejected=40),
    ),
    silent_on=(
        _under("content", rejected=1, approved=1),
        _under("content", rejected=3, approved=9),
        _under("content", approved=7),
    ),
)
