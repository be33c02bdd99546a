"""Copies one database into another, of any kind, and compares them row by row."""

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

# About 10 MB of comments.
PORTION = 5_000
# Each database has its own rows here; the search index differs by kind and is rebuilt.
_NOT_COPIED = frozenset(
    {"claims", "grouping_lease", "retraining_lease", "search_docs", "search_due", "write_probe"}
)

# Called with the number of rows processed since the last call.
Told = Callable[[int], None]


class TableSum(NamedTuple):
    """A table's number of rows, and a SHA-256 over all values in the order of the key."""

    rows: int
    sha256: str


class Compared(NamedTuple):
    """A table's sums in both databases."""

    table: str
    source: TableSum
    target: TableSum

    @property
    def equal(self) -> bool:
        return self.source == self.target


def moved_tables() -> Sequence[sa.Table]:
    """Return the tables to copy, each after the tables that it references."""
    return [table for table in metadata.sorted_tables if table.name not in _NOT_COPIED]


def count_rows(engine: sa.Engine) -> int:
    """Return the number of rows to copy. Raise `StoreUnavailableError`."""
    with reading(engine) as tx:
        counted = (sa.select(sa.func.count()).select_from(table) for table in moved_tables())
        return sum(tx.execute(query).scalar_one() for query in counted)


def move_rows(source: sa.Engine, target: sa.Engine, *, resume: bool, told: Told) -> None:
    """Copy all rows of `source` into `target`; both schemas must be of this version.

    Each transaction writes `PORTION` rows. The source is read in one snapshot. With `resume` each
    table continues after the last key in the target. Upkeep indexes the comments for the search
    later. Raise `ConflictError`, before any write, if the target has rows and `resume` is False;
    `StoreUnavailableError`.
    """
    if not resume and count_rows(target):
        msg = "the database to move to holds rows already: give an empty one, or --resume"
        raise ConflictError(msg)
    with reading(source) as tx:
        for table in moved_tables():
            key = list(table.primary_key.columns)
            newest = sa.select(*key).order_by(*(column.desc() for column in key)).limit(1)
            with reading(target) as at_target:
                after = at_target.execute(newest).one_or_none()
            for rows in _portions(tx, table, after):
                write(target, partial(insert_rows, table=table, rows=rows))
                told(len(rows))
    write(target, _advance_sequences)
    write(target, _mark_all_for_index)


def compare(source: sa.Engine, target: sa.Engine, *, told: Told) -> list[Compared]:
    """Return each table's sums in both databases. Raise `StoreUnavailableError`."""
    sums = []
    # One after the other, because PostgreSQL ends transactions that are idle for long.
    for side in (source, target):
        with reading(side) as tx:
            sums.append([_sum(tx, table, told) for table in moved_tables()])
    return [
        Compared(table=table.name, source=one, target=other)
        for table, one, other in zip(moved_tables(), *sums, strict=True)
    ]


def _advance_sequences(tx: sa.Connection) -> None:
    """Advance PostgreSQL's sequences past the copied numbers."""
    if tx.dialect.name != "postgresql":
        return
    for table in moved_tables():
        numbered = table.autoincrement_column
        if numbered is not None:
            sequence = sa.func.pg_get_serial_sequence(table.name, numbered.name)
            highest = sa.select(sa.func.max(numbered)).scalar_subquery()
            tx.execute(
                sa.select(
                    sa.func.setval(sequence, sa.func.coalesce(highest, 1), highest.isnot(None))
                )
            )


def _mark_all_for_index(tx: sa.Connection) -> None:
    """Have upkeep index every comment with words for the search."""
    if tx.dialect.name == "postgresql":
        # One statement for the whole archive may exceed the limit for pages.
        tx.exec_driver_sql("SET LOCAL statement_timeout = 0")
    kept = sa.select(comments.c.id).where(comments.c.withdrawn_at.is_(None))
    tx.execute(insert_if_free(tx, search_due).from_select(["comment_id"], kept))


def _sum(tx: sa.Connection, table: sa.Table, told: Told) -> TableSum:
    digest, rows = hashlib.sha256(), 0
    for some in _portions(tx, table):
        for row in some:
            digest.update(json.dumps(list(row.values()), sort_keys=True, default=_to_text).encode())
        rows += len(some)
        told(len(some))
    return TableSum(rows=rows, sha256=digest.hexdigest())


def _to_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else bytes(value).hex()


def _portions(
    tx: sa.Connection, table: sa.Table, after: Sequence[Any] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows in the order of the key, optionally after a key."""
    key = list(table.primary_key.columns)
    while True:
        query = sa.select(table).order_by(*key).limit(PORTION)
        if after is not None:
            literals = [
                sa.literal(value, column.type) for value, column in zip(after, key, strict=True)
            ]
            query = query.where(sa.tuple_(*key) > sa.tuple_(*literals))
        rows = [dict(row) for row in tx.execute(query).mappings()]
        if not rows:
            return
        yield rows
        after = [rows[-1][column.name] for column in key]
