"""Migrates a database to this version's schema, in one transaction and one process at a time.

A new database gets the tables of `tables.py`.
"""

from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import Script, ScriptDirectory

from service.domain.errors import ModerationError
from service.stores.sql.engine import reading, write
from service.stores.sql.tables import metadata

SCRIPTS = ScriptDirectory(str(Path(__file__).parent))
# An arbitrary number, the same in every version.
_POSTGRESQL_LOCK = 5_071_033_186


class SchemaState(StrEnum):
    UP_TO_DATE = "up to date"
    BEHIND = "behind"
    UNKNOWN = "unknown"


class UnfitSchemaError(ModerationError):
    """This version does not know the schema."""


def schema_state(engine: sa.Engine) -> SchemaState:
    """Return the schema's state; an empty database is behind. Raise `StoreUnavailableError`."""
    with reading(engine) as connection:
        return _state(connection)


def migrate(engine: sa.Engine) -> bool:
    """Migrate to the newest schema; return True if it changed.

    A second process waits for the first. Raise `UnfitSchemaError` or `StoreUnavailableError`.
    """
    return write(engine, _migrate)


def _migrate(connection: sa.Connection) -> bool:
    if connection.dialect.name == "postgresql":
        # A step may fill a column of a large table, and another process may be at it.
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_POSTGRESQL_LOCK})")
        # While a step waits for a table, all later statements wait too.
        connection.exec_driver_sql("SET LOCAL lock_timeout = '2s'")
    is_new = _create_if_new(connection)
    steps = _missing_steps(connection)
    for script in steps:
        _run(connection, script)
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
