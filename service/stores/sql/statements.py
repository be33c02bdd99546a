"""Statement parts that several SQL stores use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

_T = TypeVar("_T")

# SQLite takes 32,766 parameters a statement, PostgreSQL 65,535; a page or a batch never needs
# more than one chunk.
CHUNK = 1_000


def chunks(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    """Yield the items in pieces that one statement can take."""
    for start in range(0, len(items), CHUNK):
        yield items[start : start + CHUNK]


def insert_if_free(connection: sa.Connection, table: sa.Table) -> Any:
    """Return an INSERT that leaves out rows whose unique values are taken."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


def upsert(connection: sa.Connection, table: sa.Table) -> Any:
    """Return an INSERT to which `on_conflict_do_update` can be added."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
