"""Sees an account that was silent for long and wakes with an offer."""

from __future__ import annotations

from service.domain.comment import Comment
from service.domain.history import Conduct, History
from service.domain.verdict import Signal
from service.signals.detector import Detector, Example
from service.signals.offering import offers

# Readers come and go with the seasons; whoever is back after half a year is rarely back to sell.
_QUIET_DAYS, _LONG_QUIET_DAYS = 120, 240


def dormant_account(comment: Comment, history: History) -> Signal | None:
    """Fire on an offer, the first of its account here, after four months without a comment."""
    conduct = history.conduct
    if conduct is None or conduct.offers or conduct.quiet_days < _QUIET_DAYS:
        return None
    if not offers(comment):
        return None
    return Signal(
        name="dormant_account",
        strength=1.0 if conduct.quiet_days >= _LONG_QUIET_DAYS else 0.5,
        reason=f"comes with an offer after {conduct.quiet_days} days of silence",
    )


_OFFER = "Mine came from https://valve-shop.example.com, 20% off this week."


def _quiet(days: int, *, offered: int = 0) -> History:
    return History(conduct=Conduct(quiet_days=days, remarks=3, offers=offered))


DORMANT_ACCOUNT = Detector(
    name="dormant_account",
    detect=dormant_account,
    fires_on=(
        Example(text=_OFFER, history=_quiet(120)),
        Example(text=_OFFER, history=_quiet(390)),
        Example(text="Call +44 7700 900123, we do valves.", history=_quiet(250)),
    ),
    silent_on=(
        Example(text=_OFFER),
        Example(text=_OFFER, history=_quiet(30)),
        Example(text=_OFFER, history=_quiet(300, offered=2)),
        Example(text="Back after a year, and the third valve is stuck.", history=_quiet(350)),
    ),
)
