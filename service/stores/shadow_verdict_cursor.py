"""Encodes the place where one page of disagreements ends as an opaque cursor."""

from __future__ import annotations

from service.domain.shadow_verdict import HARMS, Disagreement
from service.stores.cursor import read_measured, refuse_cursor, write_measured

_OF = "disagreements"

Place = tuple[int, float, str]
"""By what disagreements are ordered, ascending: the harm's rank, less the distance, the id."""


def place_of(one: Disagreement) -> Place:
    """Return where a disagreement stands."""
    return HARMS.index(one.harm), -one.distance, one.comment_id


def write_place(place: Place) -> str:
    """Return the cursor that continues after a place."""
    # JSON writes the shortest digits that give the same number back, so both kinds of databases
    # compare the very same one.
    return write_measured(_OF, *place)


def read_place(cursor: str) -> Place:
    """Return the place a cursor names. Raise `InvalidInputError` for one made by nobody here."""
    rank, distance, comment_id = read_measured(cursor, _OF, most=len(HARMS) - 1)
    if not -1.0 <= distance <= 0.0:
        raise refuse_cursor()
    return rank, float(distance), comment_id
