"""Encodes the place where one page of cases ends as an opaque cursor."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from service.domain.case import Order
from service.domain.comment import CommentId
from service.domain.errors import InvalidInputError, Problem

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A cursor of ours is about 100 characters; anything far longer is not worth decoding.
_MAX_CURSOR_CHARS = 1_000

APPEAL_RANK = -1
UNSURE_RANK = 0
# Audit samples and comments that a report disputes: neither shows that it came by the other way.
CHECK_RANK = 1
REST_RANK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A comment's place in an order: its rank, its time, its id.

    In the review queue those are its review rank and `review_at`, else 0 and when it came in. What
    else an order goes by never changes, and is looked up by the id.
    """

    rank: int
    at: datetime
    comment_id: CommentId


def encode_cursor(place: Place, order: Order) -> str:
    """Return the cursor that continues after `place`."""
    return write_cursor(order.value, place.rank - APPEAL_RANK, place.at, place.comment_id)


def decode_cursor(cursor: str, order: Order) -> Place:
    """Return the place a cursor names. Raise `InvalidInputError` for one made by nobody here."""
    number, at, comment_id = read_cursor(cursor, order.value, most=REST_RANK - APPEAL_RANK)
    return Place(rank=number + APPEAL_RANK, at=at, comment_id=CommentId(comment_id))


def write_cursor(of: str, number: int, at: datetime, row_id: str) -> str:
    """Return a cursor of the list called `of`: what its rows are ordered by, and the row's id."""
    return write_measured(of, number, (at - _EPOCH) // timedelta(microseconds=1), row_id)


def read_cursor(cursor: str, of: str, *, most: int) -> tuple[int, datetime, str]:
    """Return the number, from 0 to `most`, the moment and the id that a cursor names.

    Raise `InvalidInputError` for one of another list or made by nobody here.
    """
    number, micros, row_id = read_measured(cursor, of, most=most)
    try:
        return number, _EPOCH + timedelta(microseconds=micros), row_id
    except (ValueError, OverflowError):
        raise refuse_cursor() from None


def write_measured(of: str, number: int, measure: float, row_id: str) -> str:
    """Return a cursor of a list that is ordered by a number, then by a measure, then by ids."""
    raw = json.dumps([of, number, measure, row_id]).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read_measured(cursor: str, of: str, *, most: int) -> tuple[int, float, str]:
    """Return what `write_measured` wrote; the number is from 0 to `most`, the measure any number.

    Raise `InvalidInputError` for one of another list or made by nobody here.
    """
    try:
        return _parse(cursor, of, most)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise refuse_cursor() from None


def refuse_cursor() -> InvalidInputError:
    """Return what is said of a cursor that nobody here made."""
    problem = Problem(
        field="cursor",
        problem="is not a cursor of this list",
        remedy="pass next_cursor of the page before unchanged, or none for the first page",
    )
    return InvalidInputError([problem])


def _parse(cursor: str, of: str, most: int) -> tuple[int, float, str]:
    if len(cursor) > _MAX_CURSOR_CHARS:
        raise ValueError("too long")
    padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
    raw = base64.b64decode(padded, b"-_", validate=True)
    made_for, number, measure, row_id = json.loads(raw)
    if made_for != of or type(number) is not int or type(measure) not in (int, float):
        raise ValueError("made for another list")
    if not isinstance(row_id, str) or not 0 <= number <= most:
        raise ValueError("not a place")
    # Databases refuse some of what JSON has: PostgreSQL a NUL, all a lone surrogate.
    if not (row_id and row_id.isascii() and row_id.isprintable()):
        raise ValueError("no id of ours")
    return number, measure, row_id
