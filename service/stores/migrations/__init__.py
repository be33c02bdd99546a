"""Brings a database to the schema of this version, one process at a time."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from service.domain.errors import ModerationError
from service.stores.sql.engine import reading, write

# Any number will do, as long as every version of this program takes the same.
_POSTGRESQL_LOCK = 5_071_033_186
# A migration may rewrite a large table, so it waits longer than any other statement.
_WAIT_FOR_OTHERS = "10min"


class SchemaState(StrEnum):
    """How the database's schema stands to the code's."""

    UP_TO_DATE = "up to date"
    BEHIND = "behind"
    AHEAD = "ahead"


class SchemaTooNewError(ModerationError):
    """The database was migrated by a newer version of this program; this one must not touch it."""


def schema_state(engine: sa.Engine) -> SchemaState:
    """Say how the schema stands; an empty database is behind. Raise `StoreUnavailableError`."""
    with reading(engine) as connection:
        return _state(connection)


def migrate(engine: sa.Engine) -> bool:
    """Bring the schema up to date in one transaction and return whether anything changed.

    A second process waits for the first one and then finds nothing to do. Raises
    `SchemaTooNewError` for a schema that is ahead, `StoreUnavailableError`.
    """
    return write(engine, _migrate)


def alembic_config() -> Config:
    """Return the configuration for Alembic's commands; there is no alembic.ini."""
    config = Config()
    here = str(Path(__file__).parent)
    config.set_main_option("script_location", here.replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _migrate(connection: sa.Connection) -> bool:
    _wait_for_other_migrations(connection)
    state = _state(connection)
    if state is SchemaState.UP_TO_DATE:
        return False
    if state is SchemaState.AHEAD:
        msg = (
            "the database was made by a newer version of Slopsieve; "
            "start that version, or restore a backup from before the upgrade"
        )
        raise SchemaTooNewError(msg)
    config = alembic_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    return True


def _wait_for_other_migrations(connection: sa.Connection) -> None:
    """Let one process migrate at a time; on SQLite the write lock has seen to that already."""
    if connection.dialect.name != "postgresql":
        return
    for name in ("lock_timeout", "statement_timeout"):
        connection.exec_driver_sql(f"SET LOCAL {name} = '{_WAIT_FOR_OTHERS}'")
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_POSTGRESQL_LOCK})")


def _state(connection: sa.Connection) -> SchemaState:
    scripts = ScriptDirectory.from_config(alembic_config())
    known = {script.revision for script in scripts.walk_revisions()}
    current = set(MigrationContext.configure(connection).get_current_heads())
    if current - known:
        return SchemaState.AHEAD
    return SchemaState.UP_TO_DATE if current == set(scripts.get_heads()) else SchemaState.BEHIND
