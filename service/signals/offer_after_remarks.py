"""Sees the first offer of a sender whose remarks alone were approved."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import History, Record, TrackRecord
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.earlier import comments
from service.signals.offering import offers

# Fewer approvals are no record that somebody would build to sell by.
_MANY = 3.6
# So many make it half as strong as it can be: of 1,000 regulars' comments none is held for it.
_HALF = 8.0
# One decision that is not much too old: the offers are no longer the first.
_ANY = 0.25
# Discourse gives the fourth level to those who read on half of all days, and the last by hand.
_TRUSTED = 3


def offer_after_remarks(comment: Comment, history: History) -> Signal | None:
    """Fire on a commercial link or a product where four approvals or more showed none.

    Silent on a link to a source, and for whom the platform trusts.
    """
    approved, where = max(
        (_without_offers(history.account, history.account_offers), "account"),
        (_without_offers(history.email, history.email_offers), "e-mail address"),
    )
    if approved < _MANY or (comment.author.trust_level or 0) >= _TRUSTED or not offers(comment):
        return None
    return Signal(
        name="offer_after_remarks",
        strength=approved / (approved + _HALF),
        reason=(
            f"offers something for the first time after {comments(approved)} from the same {where}"
        ),
    )


def _without_offers(all_of_it: TrackRecord, of_offers: TrackRecord) -> float:
    """Return the approvals here of comments without an offer, none if there is one with it."""
    approved, offered = all_of_it.here.approved, of_offers.here.approved
    return 0.0 if offered >= _ANY else approved


_OFFER = "Mine came from https://valve-shop.example.com, 20% off this week."


def _history(approved: float, offered: float = 0.0) -> History:
    def track_record(count: float) -> TrackRecord:
        return TrackRecord(here=Record(approved=count), everywhere=Record(approved=count))

    return History(account=track_record(approved), account_offers=track_record(offered))


OFFER_AFTER_REMARKS = Detector(
    name="offer_after_remarks",
    detect=offer_after_remarks,
    fires_on=(
        Example(text=_OFFER, history=_history(4)),
        Example(text=_OFFER, history=_history(40)),
        Example(
            text="Call +44 7700 900123 and ask for a quote, we do valves.", history=_history(12)
        ),
    ),
    silent_on=(
        Example(text=_OFFER),
        Example(text=_OFFER, history=_history(3)),
        # Moderators have seen what this one offers.
        Example(text=_OFFER, history=_history(40, 1)),
        Example(text=_OFFER, history=_history(40), trust_level=3),
        # An ordinary link to a source.
        Example(text="It is all on https://ana-karlsson.example.org/air", history=_history(40)),
        Example(text="The third valve was stuck here, too.", history=_history(40)),
    ),
)
