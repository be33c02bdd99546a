"""Changes indexes of tables that are large and in use, without keeping anybody from writing there.

A migration that does so says `online = True` at its top and does nothing else: it then runs outside
a transaction, as PostgreSQL's CONCURRENTLY asks, and may be repeated after it was cut off.
https://www.postgresql.org/docs/current/sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op


def create_index_online(
    name: str,
    table: str,
    columns: Sequence[str],
    *,
    unique: bool = False,
    where: str | None = None,
    using: str | None = None,
) -> None:
    """Make an index; `where` makes it partial, `using` names PostgreSQL's kind of it."""
    condition = None if where is None else sa.text(where)
    if op.get_bind().dialect.name != "postgresql":
        op.create_index(name, table, list(columns), unique=unique, sqlite_where=condition)
        return
    _drop_unfinished(name)
    op.create_index(
        name,
        table,
        list(columns),
        unique=unique,
        if_not_exists=True,
        postgresql_concurrently=True,
        postgresql_where=condition,
        postgresql_using=using,
    )


def drop_index_online(name: str, table: str) -> None:
    """Take an index away."""
    if op.get_bind().dialect.name != "postgresql":
        op.drop_index(name, table)
        return
    op.drop_index(name, table, if_exists=True, postgresql_concurrently=True)


def _drop_unfinished(name: str) -> None:
    """Take away what is left of an index whose making was cut off: it is kept, but never used."""
    unfinished = sa.text(
        "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
        " WHERE relname = :name AND NOT indisvalid AND pg_table_is_visible(pg_class.oid)"
    )
    if op.get_bind().execute(unfinished, {"name": name}).first() is not None:
        op.drop_index(name, if_exists=True, postgresql_concurrently=True)
