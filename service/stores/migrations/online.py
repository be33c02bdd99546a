"""Creates indexes of large tables in use, without blocking writes.

A migration that uses it sets `online = True` and does nothing else: it runs outside a transaction,
as PostgreSQL's CONCURRENTLY requires, and may be repeated after an interruption.
https://www.postgresql.org/docs/current/sql-createindex.html#SQL-CREATEINDEX-CONCURRENTLY
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op


def create_index_online(
    name: str, table: str, columns: Sequence[str], *, where: str | None = None
) -> None:
    """Create an index, a partial one with `where`."""
    condition = None if where is None else sa.text(where)
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        op.create_index(name, table, list(columns), sqlite_where=condition)
        return
    # An interrupted build leaves an invalid index, which is never used.
    unfinished = sa.text(
        "SELECT 1 FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid"
        " WHERE relname = :name AND NOT indisvalid AND pg_table_is_visible(pg_class.oid)"
    )
    if connection.execute(unfinished, {"name": name}).first() is not None:
        op.drop_index(name, if_exists=True, postgresql_concurrently=True)
    op.create_index(
        name,
        table,
        list(columns),
        if_not_exists=True,
        postgresql_concurrently=True,
        postgresql_where=condition,
    )
