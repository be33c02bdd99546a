"""Copies one database into another, of the same kind or not, and compares them row by row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import sqlalchemy as sa

from service.domain.errors import ConflictError
from service.stores.sql.base import insert_if_free, insert_rows
from service.stores.sql.engine import reading, write
from service.stores.sql.tables import comments, metadata, search_due

# Some 10 MB of comments.
PORTION = 5_000
# Every database has its own of these; the search's index differs by kind and is built again.
_ITS_OWN = frozenset(
    {"claims", "grouping_lease", "retraining_lease", "search_docs", "search_due", "write_probe"}
)

# Is called with the number of rows that are done since the last call.
Told = Callable[[int], None]


class TableSum(NamedTuple):
    """What a table holds: its rows, and a SHA-256 over all their values in the key's order."""

    rows: int
    sha256: str


class Compared(NamedTuple):
    """One table on both sides."""

    table: str
    source: TableSum
    target: TableSum

    @property
    def equal(self) -> bool:
        """Return True if both sides hold the same."""
        return self.source == self.target


def moved_tables() -> Sequence[sa.Table]:
    """Return the tables whose rows move, each after those that it refers to."""
    return [table for table in metadata.sorted_tables if table.name not in _ITS_OWN]


def count_rows(engine: sa.Engine) -> int:
    """Return how many rows there are to move. Raise `StoreUnavailableError`."""
    with reading(engine) as connection:
        counted = (sa.select(sa.func.count()).select_from(table) for table in moved_tables())
        return sum(connection.execute(query).scalar_one() for query in counted)


def move_rows(source: sa.Engine, target: sa.Engine, *, resume: bool, told: Told) -> None:
    """Copy every row of `source` into `target`; both schemas must be of this version.

    `PORTION` rows make a transaction. The source is read as of one moment. With `resume` each table
    continues after the last key in the target. Upkeep indexes the comments for the search later.
    Raise `ConflictError`, before anything is written, if the target holds rows without `resume`;
    `StoreUnavailableError`.
    """
    if not resume and count_rows(target):
        msg = "the database to move to holds rows already: give an empty one, or --resume"
        raise ConflictError(msg)
    with reading(source) as connection:
        for table in moved_tables():
            key = list(table.primary_key.columns)
            newest = sa.select(*key).order_by(*(column.desc() for column in key)).limit(1)
            with reading(target) as at_target:
                after = at_target.execute(newest).one_or_none()
            for rows in _portions(connection, table, after):
                write(target, partial(insert_rows, table=table, rows=rows))
                told(len(rows))
    write(target, _count_on)
    write(target, _let_be_found)


def compare(source: sa.Engine, target: sa.Engine, *, told: Told) -> list[Compared]:
    """Return what each table holds on both sides. Raise `StoreUnavailableError`."""
    sums = []
    # One after the other, as PostgreSQL ends a transaction that is idle for long.
    for side in (source, target):
        with reading(side) as connection:
            sums.append([_sum(connection, table, told) for table in moved_tables()])
    return [
        Compared(table=table.name, source=one, target=other)
        for table, one, other in zip(moved_tables(), *sums, strict=True)
    ]


def _count_on(connection: sa.Connection) -> None:
    """Set PostgreSQL's sequences to follow the copied numbers."""
    if connection.dialect.name != "postgresql":
        return
    for table in moved_tables():
        numbered = table.autoincrement_column
        if numbered is not None:
            sequence = sa.func.pg_get_serial_sequence(table.name, numbered.name)
            highest = sa.select(sa.func.max(numbered)).scalar_subquery()
            connection.execute(
                sa.select(
                    sa.func.setval(sequence, sa.func.coalesce(highest, 1), highest.isnot(None))
                )
            )


def _let_be_found(connection: sa.Connection) -> None:
    """Have upkeep index every comment that has words."""
    if connection.dialect.name == "postgresql":
        # One statement for all of an archive: it may take longer than anybody waits for a page.
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    kept = sa.select(comments.c.id).where(comments.c.withdrawn_at.is_(None))
    connection.execute(insert_if_free(connection, search_due).from_select(["comment_id"], kept))


def _sum(connection: sa.Connection, table: sa.Table, told: Told) -> TableSum:
    digest, rows = hashlib.sha256(), 0
    for some in _portions(connection, table):
        for row in some:
            digest.update(json.dumps(list(row.values()), sort_keys=True, default=_plain).encode())
        rows += len(some)
        told(len(some))
    return TableSum(rows=rows, sha256=digest.hexdigest())


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return bytes(value).hex()
    msg = f"no column holds a {type(value).__name__}"
    raise TypeError(msg)


def _portions(
    connection: sa.Connection, table: sa.Table, after: Sequence[Any] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in the order of the key, after a key if one is given."""
    key = list(table.primary_key.columns)
    while True:
        query = sa.select(table).order_by(*key).limit(PORTION)
        if after is not None:
            literals = [
                sa.literal(value, column.type) for value, column in zip(after, key, strict=True)
            ]
            query = query.where(sa.tuple_(*key) > sa.tuple_(*literals))
        rows = [dict(row) for row in connection.execute(query).mappings()]
        if not rows:
            return
        yield rows
        after = [rows[-1][column.name] for column in key]
