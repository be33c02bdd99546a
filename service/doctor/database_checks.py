"""Checks the database: reachable, writable, whole, of the right schema, its clock and its room."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from service import remedies
from service.data_folder import DataFolder
from service.domain.errors import StoreUnavailableError
from service.domain.finding import Finding, bytes_in_words, fail, warn, well
from service.stores.migrations import SchemaState, schema_state
from service.stores.sql import prove_write
from service.stores.sql.engine import is_whole, reading

# The oldest that its makers still mend.
_OLDEST_POSTGRESQL = 14
_MOST_SKEW_SECONDS = 2.0
_LARGE_LOG_BYTES = 256_000_000
_MOST_CONNECTIONS_SHARE = 0.8


def check_database(
    engine: sa.Engine, folder: DataFolder, *, deep: bool, now: datetime
) -> Iterator[Finding]:
    """Check all of a database; `deep` reads the whole of an embedded one."""
    try:
        schema = schema_state(engine)
    except StoreUnavailableError as error:
        yield fail("database", str(error), remedies.for_database(error))
        return
    yield judge_schema(schema)
    if schema is SchemaState.UP_TO_DATE:
        yield _writes(engine, now)
    if engine.dialect.name == "sqlite":
        yield from check_sqlite(folder.database_file, deep=deep)
    else:
        yield from check_postgresql(engine)


def judge_schema(state: SchemaState) -> Finding:
    """Find a schema that is not this version's."""
    if state is SchemaState.BEHIND:
        return fail("schema", "it is behind this version", "slopsieve migrate")
    if state is SchemaState.AHEAD:
        return fail(
            "schema",
            "it was made by a newer version of Slopsieve",
            "Start that version, or restore a backup from before the upgrade.",
        )
    if state is SchemaState.TOO_OLD:
        return fail(
            "schema",
            "it was made by a version before 1.0",
            "Start the newest version 0.1 once, then this one.",
        )
    return well("schema", "up to date")


def _writes(engine: sa.Engine, now: datetime) -> Finding:
    try:
        prove_write(engine, at=now)
    except StoreUnavailableError as error:
        return fail("database", str(error), remedies.for_database(error))
    return well("database", f"{engine.dialect.name} answers and takes a write")


def check_sqlite(path: Path, *, deep: bool) -> Iterator[Finding]:
    """Check an embedded database's integrity and its write-ahead log."""
    if deep:
        yield judge_integrity(whole=is_whole(path))
    log = path.with_name(f"{path.name}-wal")
    yield judge_log(log.stat().st_size if log.exists() else 0)


def judge_integrity(*, whole: bool) -> Finding:
    """Find a damaged file."""
    if not whole:
        return fail("integrity", "the database file is damaged", remedies.RESTORE)
    return well("integrity", "SQLite finds the file whole")


def judge_log(size: int) -> Finding:
    """Find a write-ahead log that grows because something reads without end."""
    if size > _LARGE_LOG_BYTES:
        return warn(
            "database log",
            f"the write-ahead log has {bytes_in_words(size)}",
            "Restart Slopsieve; if it comes back, look for a program that holds the file open.",
        )
    return well("database log", bytes_in_words(size))


def check_postgresql(engine: sa.Engine) -> Iterator[Finding]:
    """Check a PostgreSQL server's version, clock and connections."""
    before = datetime.now(UTC)
    with reading(engine) as connection:
        version = int(connection.exec_driver_sql("SHOW server_version_num").scalar_one())
        there = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        after = datetime.now(UTC)
        used = connection.exec_driver_sql("SELECT count(*) FROM pg_stat_activity").scalar_one()
        most = int(connection.exec_driver_sql("SHOW max_connections").scalar_one())
    yield judge_postgresql_version(version)
    yield judge_clock("the database", before, there, after)
    yield judge_connections(int(used), most)


def judge_postgresql_version(number: int) -> Finding:
    """Find a server that is older than what its makers mend."""
    major = number // 10_000
    if major < _OLDEST_POSTGRESQL:
        return warn(
            "database version",
            f"PostgreSQL {major} is no longer mended by its makers",
            f"Move to PostgreSQL {_OLDEST_POSTGRESQL} or later.",
        )
    return well("database version", f"PostgreSQL {major}")


def judge_connections(used: int, most: int) -> Finding:
    """Find a server that soon lets nobody more in."""
    says = f"{used} of {most} connections in use"
    if used > _MOST_CONNECTIONS_SHARE * most:
        return warn(
            "database connections", says, "Raise max_connections, or put a pooler before it."
        )
    return well("database connections", says)


def judge_clock(where: str, before: datetime, there: datetime, after: datetime) -> Finding:
    """Find a clock that shows another time than this machine's before and after it was read."""
    apart = max(there - after, timedelta(0)) + min(there - before, timedelta(0))
    seconds_apart = apart.total_seconds()
    if abs(seconds_apart) > _MOST_SKEW_SECONDS:
        return warn(
            "clock",
            f"{where} is {abs(seconds_apart):.0f} s {'ahead' if seconds_apart > 0 else 'behind'}",
            "Let both machines keep their time by NTP.",
        )
    return well("clock", f"{where} has this machine's time")
