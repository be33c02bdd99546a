"""Sees a regular: somebody, by e-mail or account, whose earlier comments were approved."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import (
    OFFERED_BY_ACCOUNT,
    OFFERED_BY_EMAIL,
    TRUSTED_ACCOUNT,
    TRUSTED_EMAIL,
    approved_before,
    decided,
)
from service.signals.offering import offers

_OF_REMARKS = (TRUSTED_EMAIL, TRUSTED_ACCOUNT)
_OF_OFFERS = (OFFERED_BY_EMAIL, OFFERED_BY_ACCOUNT)


def approved_person_before(comment: Comment, history: History) -> Signal | None:
    """Fire where decisions on e-mail address or account lean to approving; a name proves nobody.

    For a comment with a commercial link or a product only approvals of such comments count.
    """
    keys = _OF_OFFERS if offers(comment) else _OF_REMARKS
    return approved_before("approved_person_before", history, keys)


_TEXT = "Same here, the third valve was stuck."
_OFFER = "Mine came from https://valve-shop.example.com, 20% off this week."


APPROVED_PERSON_BEFORE = Detector(
    name="approved_person_before",
    detect=approved_person_before,
    fires_on=(
        decided(_TEXT, "email", approved=2),
        decided(_TEXT, "email", approved=40),
        decided(_TEXT, "email", approved=40, rejected=2),
        decided(_TEXT, "account", approved=4),
        decided(_OFFER, "email_offers", approved=4),
        decided("I drew it on https://ana-karlsson.example.org/air", "account", approved=4),
    ),
    silent_on=(
        Example(text=_TEXT),
        decided(_TEXT, "email", approved=1),
        decided(_TEXT, "email", approved=2, rejected=2),
        # Anybody can write under the name of a regular.
        decided(_TEXT, "name", approved=40),
        decided(_TEXT, "email", rejected=7),
        # Remarks do not vouch for the first offer.
        decided(_OFFER, "email", approved=40),
        decided(_OFFER, "account", approved=40),
    ),
)
