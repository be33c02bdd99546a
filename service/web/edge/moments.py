"""Reads and writes moments in time as RFC 3339 has them."""

from __future__ import annotations

import contextlib
import re
from datetime import MINYEAR, UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

_RFC_3339 = re.compile(
    r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:[Zz]| ?[+-]\d{2}(?::?\d{2})?)",
    re.ASCII,
)
_SCHEMA = {"type": "string", "format": "date-time", "examples": ["2026-03-01T12:00:00Z"]}


def read_moment(value: object) -> datetime:
    """Return the moment, in UTC. Raises `PydanticCustomError` for anything but RFC 3339.

    The offset may be as git and PostgreSQL write it: ` +0100`, `+01`.
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, str) and _RFC_3339.fullmatch(value):
        with contextlib.suppress(ValueError):
            return _in_utc(datetime.fromisoformat(re.sub(" (?=[+-])", "", value.upper())))
    raise PydanticCustomError("moment", "is not a date and time with an offset (RFC 3339)")


def read_any_moment(given: object) -> datetime | None:
    """Return a time as other programs write it, UTC unless it says otherwise; None for no time."""
    if not isinstance(given, str):
        return None
    try:
        moment = datetime.fromisoformat(given.strip())
        return (moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _in_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; one that no year from 1 to 9999 holds there becomes the nearest."""
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        if moment.year == MINYEAR:
            return datetime.min.replace(tzinfo=UTC)
        return datetime.max.replace(tzinfo=UTC)


def write_moment(moment: datetime) -> str:
    """Return the moment in UTC with a final Z."""
    return moment.astimezone(UTC).isoformat().removesuffix("+00:00") + "Z"


Moment = Annotated[
    datetime,
    BeforeValidator(read_moment),
    PlainSerializer(write_moment, return_type=str),
    WithJsonSchema(_SCHEMA),
]
