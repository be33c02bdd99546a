"""Encodes the place where one page of disagreements ends as an opaque cursor."""

from __future__ import annotations

import base64
import json

from service.domain.errors import InvalidInputError, Problem
from service.domain.opinion import HARMS, Disagreement

_OF = "disagreements"
_MAX_CURSOR_CHARS = 1_000

Place = tuple[int, float, str]
"""By what disagreements are ordered, ascending: the harm's rank, less the distance, the id."""


def place_of(one: Disagreement) -> Place:
    """Return where a disagreement stands."""
    return HARMS.index(one.harm), -one.distance, one.comment_id


def write_place(place: Place) -> str:
    """Return the cursor that continues after a place."""
    # JSON writes the shortest digits that give the same number back, so both kinds of databases
    # compare the very same one.
    raw = json.dumps([_OF, *place]).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read_place(cursor: str) -> Place:
    """Return the place a cursor names. Raise `InvalidInputError` for one made by nobody here."""
    try:
        return _parse(cursor)
    except (ValueError, TypeError, OverflowError, RecursionError):
        problem = Problem(
            field="cursor",
            problem="is not a cursor of this list",
            remedy="pass next_cursor of the page before unchanged, or none for the first page",
        )
        raise InvalidInputError([problem]) from None


def _parse(cursor: str) -> Place:
    if len(cursor) > _MAX_CURSOR_CHARS:
        raise ValueError("too long")
    padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
    made_for, rank, distance, comment_id = json.loads(base64.b64decode(padded, b"-_"))
    if made_for != _OF or type(rank) is not int or not isinstance(distance, int | float):
        raise ValueError("made for another list")
    if not isinstance(comment_id, str) or not -1.0 <= distance <= 0.0:
        raise ValueError("not a place")
    if not 0 <= rank < len(HARMS):
        raise ValueError("not a place")
    return rank, float(distance), comment_id
