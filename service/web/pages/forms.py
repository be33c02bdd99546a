"""Reads values from forms, queries and sessions of the pages."""

import re
from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import TypeVar

from flask import abort, request, session

from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError, NotFoundError
from service.web.edge.fields import is_id, read_any_moment

P = TypeVar("P")

# Matches ids and cursors.
_TOKEN = re.compile(r"[A-Za-z0-9_.:=-]{1,400}")


def read_ruling() -> Ruling:
    """Return the ruling of a form; abort if there is none."""
    return request.values.get("ruling", type=Ruling) or abort(HTTPStatus.BAD_REQUEST)


def read_note() -> str | None:
    return request.form.get("note", "").strip() or None


def read_token(field: str) -> str | None:
    """Return a field of the query or the form, or None if it is no id or cursor."""
    value = request.values.get(field, "")
    return value if _TOKEN.fullmatch(value) else None


def read_id(field: str) -> str | None:
    value = request.form.get(field, "")
    return value if is_id(value) else None


def read_ids(field: str) -> list[CommentId]:
    return [CommentId(one) for one in request.form.getlist(field) if is_id(one)]


def read_until() -> datetime:
    """Return the form's `until`, the end of a bulk decision; abort if there is none."""
    return read_any_moment(request.form.get("until")) or abort(HTTPStatus.BAD_REQUEST)


def read_from(cursor: str | None, read: Callable[[str | None], P]) -> P:
    """Return the page at the cursor, or the first page if the cursor is invalid."""
    try:
        return read(cursor)
    except InvalidInputError:
        return read(None)


def pop_done(key: str, read: Callable[..., P]) -> P | None:
    """Remove a value from the session; return `read` of it, or None if it is missing."""
    if key not in session:
        return None
    try:
        return read(*session.pop(key))
    except NotFoundError:
        return None
