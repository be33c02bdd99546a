"""Migrates a database to this version's schema, one process at a time.

A new database gets the tables of `tables.py`. On SQLite all steps run in one transaction. On
PostgreSQL each step runs in its own; a step that waits for a table soon times out and is retried,
because all statements after a waiting ALTER TABLE wait as well.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory
from sqlalchemy.exc import DBAPIError

from service.domain.errors import ModerationError, StoreUnavailableError
from service.stores.sql.engine import our_errors, reading, write
from service.stores.sql.tables import metadata

log = logging.getLogger(__name__)

SCRIPTS = ScriptDirectory(str(Path(__file__).parent))
# An arbitrary number, the same in every version.
_POSTGRESQL_LOCK = 5_071_033_186
# Another process may be filling a large table.
_WAIT_FOR_OTHERS_SECONDS = 600.0
_POLL_SECONDS = 0.1
# While a step waits for a table, all later statements wait too.
_STEP_LOCK_TIMEOUT = "2s"
# CREATE INDEX CONCURRENTLY waits for other transactions, but blocks nothing.
_ONLINE_LOCK_TIMEOUT = "60s"
# A step may fill a column of a large table.
_STEP_STATEMENT_TIMEOUT = "10min"
_TRIES = 10
_PAUSE_SECONDS = 1.0
# PostgreSQL's lock_not_available and deadlock_detected.
_BUSY = frozenset({"55P03", "40P01"})


class SchemaState(StrEnum):
    UP_TO_DATE = "up to date"
    BEHIND = "behind"
    UNKNOWN = "unknown"


class UnfitSchemaError(ModerationError):
    """This version does not know the schema."""


class MigrationBlockedError(StoreUnavailableError):
    """Other connections lock what a step needs; earlier steps stay applied."""


def schema_state(engine: sa.Engine) -> SchemaState:
    """Return the schema's state; an empty database is behind. Raise `StoreUnavailableError`."""
    with reading(engine) as connection:
        return _state(connection)


def migrate(engine: sa.Engine) -> bool:
    """Migrate to the newest schema; return True if it changed.

    A second process waits for the first. On PostgreSQL the steps before a failing one stay applied.
    Raise `UnfitSchemaError`, `MigrationBlockedError` or `StoreUnavailableError`.
    """

    def migrate_at_once(connection: sa.Connection) -> bool:
        is_new = _create_if_new(connection)
        steps = _missing_steps(connection)
        for script in steps:
            _run(connection, script)
        return is_new or bool(steps)

    if engine.dialect.name != "postgresql":
        return write(engine, migrate_at_once)
    with our_errors(engine), _exclusive(engine):
        is_new = write(engine, _create_if_new)
        with reading(engine) as connection:
            steps = _missing_steps(connection)
        for script in steps:
            _run_step(engine, script)
        return is_new or bool(steps)


def _create_if_new(connection: sa.Connection) -> bool:
    """Create all tables in a database that has none of them; return True if it did."""
    context = MigrationContext.configure(connection)
    if context.get_current_heads():
        return False
    metadata.create_all(connection, checkfirst=False)
    context.stamp(SCRIPTS, "head")
    return True


def _missing_steps(connection: sa.Connection) -> list[Script]:
    if _state(connection) is SchemaState.UNKNOWN:
        raise UnfitSchemaError(
            "this version does not know the database's schema: start the version of Slopsieve "
            "that made it, or restore a backup from before the upgrade"
        )
    current = MigrationContext.configure(connection).get_current_revision()
    return [*SCRIPTS.iterate_revisions("head", current)][::-1]


@contextmanager
def _exclusive(engine: sa.Engine) -> Iterator[None]:
    """Keep other processes from migrating meanwhile.

    The lock is polled, because CREATE INDEX CONCURRENTLY would wait for a transaction with a
    waiting statement. The transaction that holds the lock has no snapshot and uses no table.
    """
    deadline = time.monotonic() + _WAIT_FOR_OTHERS_SECONDS
    with engine.connect() as connection:
        while True:
            with connection.begin():
                lock = f"SELECT pg_try_advisory_xact_lock({_POSTGRESQL_LOCK})"
                is_ours = connection.exec_driver_sql(lock).scalar_one()
                # After the query, because a prepared query keeps its snapshot until the next
                # statement.
                connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
                if is_ours:
                    yield
                    return
            if time.monotonic() > deadline:
                msg = "another process has been migrating the database for ten minutes"
                raise MigrationBlockedError(msg)
            time.sleep(_POLL_SECONDS)


def _run_step(engine: sa.Engine, script: Script) -> None:
    """Run a step; retry while another connection locks the table."""
    for number in range(1, _TRIES + 1):
        try:
            _run_step_once(engine, script)
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) not in _BUSY:
                raise
            log.warning(
                "a migration waits for a table", extra={"revision": script.revision, "try": number}
            )
        else:
            return
        time.sleep(_PAUSE_SECONDS)
    raise MigrationBlockedError(
        f"migration {script.revision} needs a table that others have held each time it was tried; "
        "nothing of it was changed, and earlier ones are done: look for long transactions in "
        "pg_stat_activity, then migrate again"
    )


def _run_step_once(engine: sa.Engine, script: Script) -> None:
    is_online = getattr(script.module, "online", False)
    with engine.connect() as connection:
        if is_online:
            connection = connection.execution_options(isolation_level="AUTOCOMMIT")
        with connection.begin():
            scope, limits = (
                ("SESSION", (_ONLINE_LOCK_TIMEOUT, "0"))
                if is_online
                else ("LOCAL", (_STEP_LOCK_TIMEOUT, _STEP_STATEMENT_TIMEOUT))
            )
            for name, value in zip(("lock_timeout", "statement_timeout"), limits, strict=True):
                connection.exec_driver_sql(f"SET {scope} {name} = '{value}'")
            _run(connection, script)
        if is_online:
            # Its limits differ from those of pooled connections.
            connection.invalidate()


def _run(connection: sa.Connection, script: Script) -> None:
    context = MigrationContext.configure(connection, opts={"target_metadata": metadata})
    with Operations.context(context):
        script.module.upgrade()
    context.stamp(SCRIPTS, script.revision)


def _state(connection: sa.Connection) -> SchemaState:
    known = {script.revision for script in SCRIPTS.walk_revisions()}
    current = set(MigrationContext.configure(connection).get_current_heads())
    if current - known:
        return SchemaState.UNKNOWN
    return SchemaState.UP_TO_DATE if current == set(SCRIPTS.get_heads()) else SchemaState.BEHIND
