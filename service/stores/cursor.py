"""Encodes the place where one page of a list ends as an opaque cursor."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from service.domain.errors import InvalidInputError, Problem

_Row = TypeVar("_Row")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
APPEAL_RANK = -1
UNSURE_RANK = 0
# Audit samples and comments that a report disputes: neither shows that it came by the other way.
CHECK_RANK = 1
REST_RANK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A row's place in a list: the number, the moment and the id that the list is ordered by."""

    rank: int = 0
    at: datetime = _EPOCH
    id: str = "-"


def write_cursor(of: str, place: Place) -> str:
    """Return the cursor that continues the list called `of` after `place`."""
    micros = (place.at - _EPOCH) // timedelta(microseconds=1)
    raw = json.dumps([of, place.rank, micros, place.id]).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def cursor_after(
    of: str, rows: Sequence[_Row], limit: int, place_of: Callable[[_Row], Place]
) -> str | None:
    """Return the cursor that continues after `limit` rows, None if there are no more of them."""
    return write_cursor(of, place_of(rows[limit - 1])) if len(rows) > limit else None


def read_cursor(cursor: str, of: str, *, least: int = 0, most: int = 0) -> Place:
    """Return a cursor's place, with its number in range. Raise `InvalidInputError` for others'."""
    try:
        return _parse(cursor, of, least, most)
    except (ValueError, TypeError, OverflowError, RecursionError):
        problem = Problem(
            field="cursor",
            problem="is not a cursor of this list",
            remedy="pass next_cursor of the page before unchanged, or none for the first page",
        )
        raise InvalidInputError([problem]) from None


def _parse(cursor: str, of: str, least: int, most: int) -> Place:
    # One of ours has about 100 characters.
    if len(cursor) > 1_000:
        raise ValueError("too long")
    padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
    made_for, rank, micros, row_id = json.loads(base64.b64decode(padded, b"-_", validate=True))
    if made_for != of or type(rank) is not int or type(micros) is not int:
        raise ValueError("made for another list")
    if not isinstance(row_id, str) or not least <= rank <= most:
        raise ValueError("not a place")
    # Databases refuse some of what JSON has: PostgreSQL a NUL, all a lone surrogate.
    if not (row_id and row_id.isascii() and row_id.isprintable()):
        raise ValueError("no id of ours")
    return Place(rank=rank, at=_EPOCH + timedelta(microseconds=micros), id=row_id)
