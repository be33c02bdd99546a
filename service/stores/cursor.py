"""Encodes positions in sorted lists as opaque cursors."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from service.domain.errors import InvalidInputError, Problem

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
APPEAL_RANK = -1
UNSURE_RANK = 0
# Shared by audit samples and disputed verdicts, so that moderators cannot distinguish them.
CHECK_RANK = 1
REST_RANK = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A row's position in a list: the number, the time and the id by which it is sorted."""

    rank: int = 0
    at: datetime = EPOCH
    id: str = "-"


def cursor_after(of: str, rows: Sequence[Any], limit: int) -> str | None:
    """Return the cursor that continues the list named `of` after `limit` rows, None at its end.

    A row's `id`, and its `rank` and `at` if it has them, are its place.
    """
    if len(rows) <= limit:
        return None
    last = rows[limit - 1]
    micros = (getattr(last, "at", EPOCH) - EPOCH) // timedelta(microseconds=1)
    raw = json.dumps([of, getattr(last, "rank", 0), micros, last.id]).encode()
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def read_cursor(cursor: str, of: str, *, least: int = 0, most: int = 0) -> Place:
    """Return a cursor's place. Raise `InvalidInputError` if it is invalid or out of range."""
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
    # Valid cursors have about 100 characters.
    if len(cursor) > 1_000:
        raise ValueError("too long")
    padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
    made_for, rank, micros, row_id = json.loads(base64.b64decode(padded, b"-_", validate=True))
    if made_for != of or type(rank) is not int or type(micros) is not int:
        raise ValueError("made for another list")
    if not isinstance(row_id, str) or not least <= rank <= most:
        raise ValueError("not a place")
    # PostgreSQL refuses NUL, every database a lone surrogate.
    if not (row_id and row_id.isascii() and row_id.isprintable()):
        raise ValueError("no id of ours")
    return Place(rank=rank, at=EPOCH + timedelta(microseconds=micros), id=row_id)
