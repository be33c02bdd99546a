"""What came of asking a platform to hide a comment or to show it again, and how it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from service.domain.applying import PlatformAct
from service.domain.delivery import Endpoint
from service.outbound.calls import CallOutcome, seconds_given
from service.outbound.exchange import HttpAnswer

# What platforms ask of those whom they give no time.
_LEAST_REST_SECONDS = 60.0
_LONGEST_REST_SECONDS = 24 * 3600.0
_MAX_MOMENT_CHARS = 64


class AtPlatform(StrEnum):
    """What can go wrong at a platform, in words for a log."""

    TOKEN = "the platform refuses the token"  # noqa: S105  # words, no token
    LIMITED = "the platform asks for time"
    GONE = "the comment is not there any more"
    NOT_ALLOWED = "the platform does not allow this to the token's owner"
    CLOSED = "the build hook takes no calls"
    NO_ID = "the comment's id at the platform is not known"


Ask = Callable[..., CallOutcome]
"""Calls an API as `HttpSiteNotifier.call` does, and keeps the answer's body."""
Apply = Callable[[PlatformAct, Endpoint, Ask, datetime], CallOutcome]
"""Asks a platform for one act, at this moment; returns what came of it, as the last call has it."""


def plain_result(said: CallOutcome, now: datetime) -> CallOutcome:
    """Return what any HTTP API means by its answer; a platform says what it means otherwise.

    A request may have been carried out whose answer was lost, or which ended in a 5xx.
    """
    answer = said.answer
    if answer is None:
        return replace(said, uncertain=said.was_sent)
    if answer.status == 401:  # a status by its number
        return replace(said, problem=AtPlatform.TOKEN.value, refused=True)
    rests = _asked_rest(answer, now)
    if rests is not None:
        return replace(said, problem=AtPlatform.LIMITED.value, rests_seconds=rests)
    return replace(said, uncertain=answer.status >= 500)


def limited(result: CallOutcome, now: datetime) -> CallOutcome:
    """Return the result of an answer whose words ask for time, and perhaps its headers."""
    asked = _given_rest(result.answer, now) if result.answer else None
    rests = _LEAST_REST_SECONDS if asked is None else asked
    return replace(result, problem=AtPlatform.LIMITED.value, rests_seconds=rests)


def members_of(answer: HttpAnswer) -> dict[str, Any]:
    """Return the members of an answer's JSON object; none of what is no such thing."""
    try:
        given = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _asked_rest(answer: HttpAnswer, now: datetime) -> float | None:
    """Return the seconds to rest for, None where the answer is not about too many calls."""
    if answer.status == 429:
        given = _given_rest(answer, now)
        return _LEAST_REST_SECONDS if given is None else given
    if answer.status in (403, 503):
        return _given_rest(answer, now)
    return None


def _given_rest(answer: HttpAnswer, now: datetime) -> float | None:
    """Return what the headers give: `Retry-After`, or the end of a limit that is used up."""
    seconds = seconds_given(answer.retry_after, now)
    if seconds is None and (answer.limit_left or "").strip() == "0":
        seconds = _until(answer.limit_ends, now)
    return None if seconds is None else min(max(seconds, 1.0), _LONGEST_REST_SECONDS)


def _until(moment: str | None, now: datetime) -> float | None:
    """Return the seconds until a moment that GitHub gives in seconds since 1970."""
    given = (moment or "")[:_MAX_MOMENT_CHARS].strip()
    if given.isascii() and given.isdigit():
        return float(given) - now.timestamp()
    return None
