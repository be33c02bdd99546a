"""Encodes where one page of campaigns or of their members ends as an opaque cursor."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.stores.cursor import read_cursor, write_cursor

_MOST = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPlace:
    """A place in a list: how many wait (0 among members), when it was seen, its id."""

    waiting: int
    at: datetime
    id: str


def encode_place(place: CampaignPlace, *, of: str) -> str:
    """Return the cursor that continues a list called `of` after `place`."""
    return write_cursor(of, place.waiting, place.at, place.id)


def decode_place(cursor: str, *, of: str) -> CampaignPlace:
    """Return the place a cursor names. Raise `InvalidInputError` for one of another list."""
    waiting, at, found = read_cursor(cursor, of, most=_MOST)
    return CampaignPlace(waiting=waiting, at=at, id=found)
