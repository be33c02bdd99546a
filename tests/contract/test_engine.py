"""Holds every database to how it opens, waits, fails, reads at one moment and proves writes."""

from __future__ import annotations

import resource
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import sql

from service.domain.errors import StoreDamagedError, StoreUnavailableError
from service.domain.site import Site
from service.stores.sql import SqlStores, create_engine, ping, prove_write
from service.stores.sql.engine import one_moment, reading, write
from service.stores.sql.tables import comments, sites, write_probe
from tests.factories import NOW, SITE


@pytest.fixture
def site_store(engine):
    stores = SqlStores(engine)
    stores.sites.add(Site(id=SITE, name="Radiator blog", created_at=NOW))
    return stores.sites


@pytest.fixture
def opened(engine):
    """Give the list of connections that were taken from the pool, one entry each time."""
    taken = []
    sa.event.listen(engine, "checkout", lambda *_: taken.append(1))
    return taken


def add(engine, site_id):
    """Add a site over a connection of its own, as another process would."""
    with ThreadPoolExecutor(1) as other:
        site = Site(id=site_id, name=site_id, created_at=NOW)
        other.submit(lambda: SqlStores(engine).sites.add(site)).result(20)


def names(site_store):
    return {site.id for site in site_store.all()}


def test_what_others_write_meanwhile_is_not_seen_until_the_moment_is_over(engine, site_store):
    with one_moment(engine):
        before = names(site_store)
        add(engine, "late")
        meanwhile = names(site_store)

    assert before == meanwhile == {SITE}
    assert names(site_store) == {SITE, "late"}


def test_all_is_read_over_one_connection(engine, site_store, opened):
    with one_moment(engine), one_moment(engine):
        for _ in range(5):
            site_store.all()
        site_store.get(SITE)

    assert len(opened) == 1


def test_nothing_is_opened_where_nothing_is_read(engine, opened):
    with one_moment(engine):
        pass

    assert opened == []
    assert engine.pool.checkedout() == 0


def test_after_its_own_write_a_thread_reads_of_a_later_moment(engine, site_store):
    with one_moment(engine):
        before = names(site_store)
        add(engine, "others")
        site_store.add(Site(id="own", name="own", created_at=NOW))
        after = names(site_store)

    assert before == {SITE}
    assert after == {SITE, "others", "own"}


def test_a_write_needs_no_second_connection_beside_the_one_held(engine, site_store):
    most = []
    sa.event.listen(engine, "checkout", lambda *_: most.append(engine.pool.checkedout()))

    with one_moment(engine):
        site_store.all()
        site_store.add(Site(id="own", name="own", created_at=NOW))
        site_store.all()

    assert max(most) == 1


def test_a_reading_in_progress_keeps_its_moment_while_its_thread_writes(engine, site_store):
    count = sa.text("SELECT count(*) FROM sites")

    with one_moment(engine), reading(engine) as connection:
        seen = [connection.execute(count).scalar_one()]
        site_store.add(Site(id="own", name="own", created_at=NOW))
        seen.append(connection.execute(count).scalar_one())

    assert seen == [1, 1]


def test_other_threads_read_at_moments_of_their_own(engine, site_store):
    with one_moment(engine), ThreadPoolExecutor(1) as other:
        site_store.all()
        add(engine, "late")

        assert other.submit(names, site_store).result(20) == {SITE, "late"}
        assert names(site_store) == {SITE}


def test_after_an_error_the_next_reading_works(engine, site_store):
    with one_moment(engine):
        with suppress(StoreUnavailableError, sa.exc.SQLAlchemyError), reading(engine) as connection:
            connection.exec_driver_sql("SELECT * FROM nothing_of_that_name")

        assert names(site_store) == {SITE}


def test_nothing_is_held_after_an_error(engine, site_store):
    with suppress(LookupError), one_moment(engine):
        site_store.all()
        raise LookupError

    assert engine.pool.checkedout() == 0


def test_nothing_can_be_written_with_what_is_held_on_postgresql(engine, site_store):
    if engine.dialect.name != "postgresql":
        # SQLite has no such promise: a reading there never begins as a writer.
        assert engine.dialect.name == "sqlite"
        return
    with pytest.raises(StoreUnavailableError), one_moment(engine), reading(engine) as connection:
        connection.exec_driver_sql("DELETE FROM sites")

    assert names(site_store) == {SITE}


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
