"""Proves that the database takes writes."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from service.stores.sql.base.engine import refuse_damaged, write
from service.stores.sql.base.statements import put_row
from service.stores.sql.schema.tables import write_probe

_ONLY_ROW = 1


def prove_write(engine: sa.Engine, *, at: datetime) -> None:
    """Return once a write is durable: `at`, into the one row of a table kept for this alone.

    Nothing grows by it. A full disk, a read-only file or server is found out by the commit itself;
    that a *large* write has room is not proven. This row may be sound where others are damaged, so
    damage that this process met is an error until something else was written. Raise
    `StoreUnavailableError`, after at most the time that any write waits for others.
    """
    refuse_damaged(engine)
    write(engine, lambda connection: put_row(connection, write_probe, {"id": _ONLY_ROW, "at": at}))
