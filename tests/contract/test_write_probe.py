"""Holds every database to what `/readyz` relies on: a write that fails is noticed."""

from __future__ import annotations

import resource
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import sql

from service.domain.errors import StoreDamagedError, StoreUnavailableError
from service.stores.sql import create_engine, ping, prove_write
from service.stores.sql.engine import reading, write
from service.stores.sql.tables import comments, sites, write_probe
from tests.factories import NOW


def test_a_write_is_proven_again_and_again_and_nothing_grows(engine):
    for seconds in range(3):
        prove_write(engine, at=NOW + timedelta(seconds=seconds))

    with engine.connect() as connection:
        rows = connection.execute(sa.select(write_probe)).all()
    assert [row.at for row in rows] == [NOW + timedelta(seconds=2)]


def test_a_file_that_can_only_be_read_answers_but_proves_no_write(new_database):
    with new_database("sqlite") as url:
        path = url.removeprefix("sqlite:///")
        engine = create_engine(f"sqlite:///file:{path}?mode=ro&uri=true")

        ping(engine)
        with pytest.raises(StoreUnavailableError, match="it can only be read"):
            prove_write(engine, at=NOW)
        engine.dispose()


def test_a_file_that_another_program_keeps_locked_proves_no_write_and_says_so(new_database):
    with new_database("sqlite") as url:
        engine = create_engine(url, lock_timeout_ms=1)
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as other:
            other.execute("BEGIN IMMEDIATE")

            with pytest.raises(StoreUnavailableError, match="it is locked"):
                prove_write(engine, at=NOW)
        engine.dispose()


def test_a_server_that_takes_reads_alone_answers_but_proves_no_write(new_database):
    with new_database("postgresql") as url:
        _make_read_only(url)
        engine = create_engine(url)

        with pytest.raises(StoreUnavailableError):
            prove_write(engine, at=NOW)
        ping(engine)
        engine.dispose()


def _make_read_only(url: str) -> None:
    """Do what providers do to a server whose disk is nearly full."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(
                sql.Identifier(connection.info.dbname)
            )
        )


@contextmanager
def full_disk(log: Path) -> Iterator[None]:
    """Let no file of this process grow beyond the size of this one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_answers_but_proves_no_write_until_there_is_room_again(new_database):
    with new_database("sqlite") as url:
        engine = create_engine(url)
        prove_write(engine, at=NOW)
        log = Path(url.removeprefix("sqlite:///") + "-wal")

        with full_disk(log):
            ping(engine)
            with pytest.raises(StoreUnavailableError):
                prove_write(engine, at=NOW + timedelta(seconds=1))
        prove_write(engine, at=NOW + timedelta(seconds=2))
        engine.dispose()


def _damage_table(path: Path, name: str) -> None:
    """Overwrite the root page of a table, as a disk does that loses power amid a write."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        [page] = connection.execute(query, (name,)).fetchone()
        [size] = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xaa" * size)


def test_damage_elsewhere_that_was_met_proves_no_write_until_something_is_written(new_database):
    with new_database("sqlite") as url:
        _damage_table(Path(url.removeprefix("sqlite:///")), "comments")
        engine = create_engine(url)
        ping(engine)
        prove_write(engine, at=NOW)

        with pytest.raises(StoreDamagedError), reading(engine) as connection:
            connection.execute(sa.select(comments)).all()
        with pytest.raises(StoreDamagedError):
            ping(engine)
        with pytest.raises(StoreDamagedError):
            prove_write(engine, at=NOW)

        write(engine, lambda connection: connection.execute(sa.delete(sites)))
        ping(engine)
        prove_write(engine, at=NOW)
        engine.dispose()
