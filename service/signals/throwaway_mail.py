"""Sees an e-mail address at a service that lends addresses for minutes."""

from __future__ import annotations

from disposable_email_domains import blocklist

from service.domain.comment import Comment, ListBasis, Listing, ListKind
from service.domain.history import History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.listings import WORTH, listed

# Services of this kind lend out names below their own; three levels are all that real lists hold.
_MAX_LABELS = 5
_NAME = "throwaway_mail"


def throwaway_mail(comment: Comment, _history: History) -> Signal | None:
    """Fire on a mail domain of the built-in list, or of an imported one that is not too old."""
    found = listed(
        _NAME, comment, ListKind.MAIL_DOMAINS, what="gives an e-mail address of a domain"
    )
    if not _is_built_in(comment.sender.email_domain):
        return found
    strength = WORTH[ListBasis.REPORTED]
    if found is not None and found.strength > strength:
        return found
    return Signal(
        name=_NAME, strength=strength, reason="gives an e-mail address of a throw-away service"
    )


def _is_built_in(domain: str | None) -> bool:
    labels = (domain or "")[:253].split(".")[-_MAX_LABELS:]
    return any(".".join(labels[at:]) in blocklist for at in range(len(labels) - 1))


def _listed(age_days: float, kind: ListKind = ListKind.MAIL_DOMAINS) -> Listing:
    return Listing(list_name="throwaway", kind=kind, age_days=age_days)


_TEXT = "Same here, the third valve was stuck."

THROWAWAY_MAIL = Detector(
    name="throwaway_mail",
    detect=throwaway_mail,
    fires_on=(
        Example(text=_TEXT, email_domain="mailinator.com"),
        Example(text=_TEXT, email_domain="box7.mailinator.com"),
        Example(text=_TEXT, email_domain="example.org", listings=(_listed(3.0),)),
    ),
    silent_on=(
        Example(text=_TEXT, email_domain="example.org"),
        Example(text=_TEXT, email_domain="mailinator.com.example.org"),
        Example(text=_TEXT, email_domain="example.org", listings=(_listed(9_999.0),)),
        Example(text=_TEXT, listings=(_listed(1.0, ListKind.DOMAINS),)),
    ),
)
