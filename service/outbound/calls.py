"""What came of a call, what can go wrong on the way, and how long other systems ask to wait."""

from __future__ import annotations

import email.utils
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from service.outbound.exchange import HttpAnswer

_MAX_RETRY_AFTER_CHARS = 64
_MAX_RETRY_AFTER_SECONDS = 24 * 3600.0
SLOW_DOWN = (429, 502, 503, 504)
"""The statuses of a site that is overloaded: its `Retry-After` is followed."""


class Failure(StrEnum):
    """What can go wrong on the way, in words for a log."""

    NOT_FOUND = "the host's address was not found"
    NO_CONNECTION = "no connection, or it broke off"
    CERTIFICATE = "the certificate is not valid for this host"
    TLS = "no encrypted connection"
    OUT_OF_TIME = "no answer in time"
    UNREADABLE = "the answer cannot be read"
    REDIRECT = "the answer leads elsewhere, which is not followed"
    REFUSED = "the site answered with an error"
    NO_ENDPOINT = "the site wants no callbacks any more"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What came of one call: the answer, if there was one, or the problem in fixed words.

    `was_sent` says that all of the request went out. `rests_seconds` is for how long the other
    system asks to be left alone; the rest is as in `SendOutcome`.
    """

    answer: HttpAnswer | None = None
    problem: str | None = None
    was_sent: bool = False
    settled: bool = False
    hopeless: bool = False
    refused: bool = False
    uncertain: bool = False
    rests_seconds: float | None = None


def seconds_given(retry_after: str | None, now: datetime) -> float | None:
    """Return the seconds that a `Retry-After` stands for, at most a day; None if it is none."""
    given = (retry_after or "")[:_MAX_RETRY_AFTER_CHARS].strip()
    if not given:
        return None
    if given.isascii() and given.isdigit():
        seconds = float(given)
    else:
        try:
            seconds = (email.utils.parsedate_to_datetime(given) - now).total_seconds()
        except (TypeError, ValueError):
            return None
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER_SECONDS)
