"""Holds every database to how it opens, waits, fails, reads at one moment and proves writes."""

import resource
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from service.domain.errors import StoreDamagedError, StoreUnavailableError
from service.domain.site import Site
from service.logs import LineFormatter
from service.stores.sql import SqlStores, create_engine, ping, prove_write
from service.stores.sql.engine import read_snapshot, reading, write
from service.stores.sql.tables import comments, sites, write_probe
from tests.commands import run_python
from tests.contract.conftest import at_once
from tests.databases import damage, engine_on
from tests.factories import NOW, SITE, keep_all, make_comment
from tests.servers import Server, running_postgresql


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "slopsieve.db"


@pytest.mark.parametrize(
    "url",
    ["", "nonsense", "mysql://u:geheim@h/d", "sqlite://", "sqlite:///:memory:", "x:geheim@y:z"],
)
def test_a_url_that_is_neither_is_refused_without_repeating_its_password(url):
    with pytest.raises(ValueError, match="database URL") as refusal:
        create_engine(url)

    assert "geheim" not in str(refusal.value)


@pytest.mark.parametrize("start", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_a_postgresql_url_is_understood(start):
    engine = create_engine(f"{start}://u:geheim@db.example:5433/slop")

    assert engine.url.drivername == "postgresql+psycopg"
    assert engine.url.port == 5433
    assert "geheim" not in repr(engine)


def test_without_the_driver_a_postgresql_url_is_refused_with_the_command_that_installs_it(database):
    script = (
        "import sys\n"
        "sys.modules['psycopg'] = None\n"
        "from service.stores.sql import create_engine, ping\n"
        "ping(create_engine('sqlite:///' + sys.argv[1]))\n"
        "try:\n"
        "    create_engine('postgresql://u:geheim@h/d')\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )

    ended = run_python("-c", script, str(database))

    assert ended.stdout == "PostgreSQL needs its driver, psycopg: run `make install`\n", ended


def test_a_commit_is_durable_and_references_are_checked(database):
    engine = engine_on(f"sqlite:///{database}", lock_timeout_ms=50)
    with engine.connect() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }

    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 50,
    }


def test_a_missing_table_is_logged_once_and_never_what_was_to_be_kept(database, caplog):
    engine = engine_on(f"sqlite:///{database}")
    comment = make_comment("something private", id="c1")

    for _ in range(2):
        with pytest.raises(StoreUnavailableError) as failure:
            keep_all(SqlStores(engine).comments, comment)

    assert "private" not in f"{failure.value} {failure.value.__cause__}"
    (line,) = map(LineFormatter().format, caplog.records)
    assert "error=OperationalError at=base.py:" in line
    assert "private" not in line


def test_of_two_transactions_that_wait_for_each_other_one_is_tried_again(postgresql: Server):
    engine = engine_on(postgresql.url)
    write(engine, lambda c: c.exec_driver_sql("CREATE TABLE crossing (n INTEGER)"))
    write(engine, lambda c: c.exec_driver_sql("INSERT INTO crossing VALUES (0), (1)"))
    both_hold_one = threading.Barrier(2, timeout=30)
    locked = sa.text("SELECT n FROM crossing WHERE n = :n FOR UPDATE")
    tries = [0, 0]

    def cross(first: int) -> None:
        def work(connection: sa.Connection) -> None:
            tries[first] += 1
            # A second try waits for the other's first row with none of its own: it crosses nothing.
            for row in (first, 1 - first) if tries[first] == 1 else (1 - first, first):
                connection.execute(locked, {"n": row})
                if row == first and tries[first] == 1:
                    both_hold_one.wait()

        write(engine, work)

    at_once(partial(cross, 0), partial(cross, 1))

    write(engine, lambda c: c.exec_driver_sql("DROP TABLE crossing"))
    # If both ask at the same moment who waits for whom, PostgreSQL ends both.
    assert max(tries) == 2


def test_writers_of_one_process_and_of_others_take_turns(database):
    engines = [engine_on(f"sqlite:///{database}") for _ in range(3)]
    write(engines[0], lambda c: c.exec_driver_sql("CREATE TABLE counts (n INTEGER)"))
    write(engines[0], lambda c: c.exec_driver_sql("INSERT INTO counts VALUES (0)"))

    def count(engine: sa.Engine) -> None:
        for _ in range(20):
            write(engine, lambda c: c.exec_driver_sql("UPDATE counts SET n = n + 1"))

    at_once(*(partial(count, engine) for engine in engines * 4))

    with reading(engines[0]) as connection:
        assert connection.exec_driver_sql("SELECT n FROM counts").scalar() == 240


def test_who_waits_too_long_for_a_turn_is_told(database):
    engine = engine_on(f"sqlite:///{database}", lock_timeout_ms=50)
    begun, go = threading.Event(), threading.Event()

    def write_slowly(_: sa.Connection) -> None:
        begun.set()
        go.wait(10)

    with ThreadPoolExecutor(1) as other:
        slow = other.submit(write, engine, write_slowly)
        assert begun.wait(10)
        with pytest.raises(StoreUnavailableError):
            write(engine, lambda c: c.exec_driver_sql("SELECT 1"))
        go.set()
        slow.result(10)


def test_connections_that_were_cut_are_replaced_and_a_server_that_is_gone_is_unavailable(
    monkeypatch,
):
    # Every connection is asked whether it answers, however short it lay idle.
    monkeypatch.setattr("service.stores.sql.engine._TRUSTED_SECONDS", 0.0)
    with running_postgresql() as server:
        engine = engine_on(server.url)
        ping(engine)
        cut = sa.text(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'slopsieve' AND pid <> pg_backend_pid()"
        )
        with engine.connect() as one, engine.connect() as other:
            one.execute(cut)
            assert not other.invalidated

        for _ in range(2):
            with reading(engine) as first, reading(engine) as second:
                answers = [c.exec_driver_sql("SELECT 1").scalar_one() for c in (first, second)]
        server.stop()
        with pytest.raises(StoreUnavailableError):
            ping(engine)

    assert answers == [1, 1]


def asks(connection: sa.Connection, query: str) -> object:
    return connection.exec_driver_sql(query).scalar_one()


@pytest.fixture
def pooled(postgresql: Server, behind_pooler) -> sa.Engine:
    """Give an engine with one connection."""
    return engine_on(postgresql.url, kept=1, more=0, behind_pooler=behind_pooler)


@pytest.mark.parametrize("behind_pooler", [False, True])
def test_statements_are_prepared_unless_a_pooler_is_in_between(pooled, behind_pooler):
    for _ in range(8):
        with reading(pooled) as connection:
            connection.execute(sa.text("SELECT 1 + :n"), {"n": 1})

    with reading(pooled) as connection:
        found = asks(connection, "SELECT count(*) FROM pg_prepared_statements")
    assert (found == 0) is behind_pooler


@pytest.mark.parametrize("behind_pooler", [False, True])
def test_every_wait_is_bounded_whoever_had_the_connection_before(pooled, behind_pooler):
    if behind_pooler:
        with pooled.connect() as connection:
            # As a pooler leaves it that lent it to somebody else in between.
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("RESET ALL")

    with reading(pooled) as connection:
        limits = [asks(connection, "SELECT current_setting('lock_timeout')")]
    limits.append(write(pooled, lambda c: asks(c, "SELECT current_setting('statement_timeout')")))

    assert limits == ["5s", "15s"]


def test_no_more_connections_are_opened_than_allowed(postgresql: Server, monkeypatch):
    monkeypatch.setattr("service.stores.sql.engine._POOL_TIMEOUT_SECONDS", 0.05)
    engine = engine_on(postgresql.url, kept=1, more=1)

    with reading(engine), reading(engine), pytest.raises(StoreUnavailableError):
        ping(engine)


@pytest.fixture
def site_store(engine):
    stores = SqlStores(engine)
    stores.sites.add(Site(id=SITE, name="Radiator blog", created_at=NOW))
    return stores.sites


def add(engine, site_id):
    """Add a site over a connection of its own, as another process would."""
    with ThreadPoolExecutor(1) as other:
        site = Site(id=site_id, name=site_id, created_at=NOW)
        other.submit(lambda: SqlStores(engine).sites.add(site)).result(20)


def names(site_store):
    return {site.id for site in site_store.all()}


def test_what_others_write_meanwhile_is_not_seen_until_the_moment_is_over(engine, site_store):
    with read_snapshot(engine):
        before = names(site_store)
        add(engine, "late")
        meanwhile = names(site_store)

    assert before == meanwhile == {SITE}
    assert names(site_store) == {SITE, "late"}


def test_all_is_read_over_one_connection_which_is_opened_where_something_is_read(engine):
    sites, opened = SqlStores(engine).sites, []
    sa.event.listen(engine, "checkout", lambda *_: opened.append(1))
    with read_snapshot(engine):
        pass
    assert opened == []

    with read_snapshot(engine), read_snapshot(engine):
        for _ in range(5):
            sites.all()

    assert len(opened) == 1


def test_after_its_own_write_a_thread_reads_of_a_later_moment(engine, site_store):
    with read_snapshot(engine):
        before = names(site_store)
        add(engine, "others")
        site_store.add(Site(id="own", name="own", created_at=NOW))
        after = names(site_store)

    assert before == {SITE}
    assert after == {SITE, "others", "own"}


def test_a_write_needs_no_second_connection_beside_the_one_held(engine, site_store):
    most = []
    sa.event.listen(engine, "checkout", lambda *_: most.append(engine.pool.checkedout()))

    with read_snapshot(engine):
        site_store.all()
        site_store.add(Site(id="own", name="own", created_at=NOW))
        site_store.all()

    assert max(most) == 1


def test_a_reading_in_progress_keeps_its_moment_while_its_thread_writes(engine, site_store):
    count = sa.text("SELECT count(*) FROM sites")

    with read_snapshot(engine), reading(engine) as connection:
        seen = [connection.execute(count).scalar_one()]
        site_store.add(Site(id="own", name="own", created_at=NOW))
        seen.append(connection.execute(count).scalar_one())

    assert seen == [1, 1]


def test_other_threads_read_at_moments_of_their_own(engine, site_store):
    with read_snapshot(engine), ThreadPoolExecutor(1) as other:
        site_store.all()
        add(engine, "late")

        assert other.submit(names, site_store).result(20) == {SITE, "late"}
        assert names(site_store) == {SITE}


def test_after_an_error_the_next_reading_works(engine, site_store):
    with read_snapshot(engine):
        with suppress(StoreUnavailableError, sa.exc.SQLAlchemyError), reading(engine) as connection:
            connection.exec_driver_sql("SELECT * FROM nothing_of_that_name")

        assert names(site_store) == {SITE}


def test_nothing_is_held_after_an_error(engine, site_store):
    with suppress(LookupError), read_snapshot(engine):
        site_store.all()
        raise LookupError

    assert engine.pool.checkedout() == 0


def test_a_write_is_proven_again_and_again_and_nothing_grows(engine):
    for seconds in range(3):
        prove_write(engine, at=NOW + timedelta(seconds=seconds))

    with engine.connect() as connection:
        rows = connection.execute(sa.select(write_probe)).all()
    assert [row.at for row in rows] == [NOW + timedelta(seconds=2)]


@pytest.fixture
def file(new_database) -> Iterator[Path]:
    """Give a migrated SQLite file."""
    with new_database("sqlite") as url:
        yield Path(url.removeprefix("sqlite:///"))


def test_a_file_that_can_only_be_read_answers_but_proves_no_write(file):
    engine = engine_on(f"sqlite:///file:{file}?mode=ro&uri=true")

    ping(engine)
    with pytest.raises(StoreUnavailableError, match="it can only be read"):
        prove_write(engine, at=NOW)


def test_a_file_that_another_program_keeps_locked_proves_no_write_and_says_so(file):
    engine = engine_on(f"sqlite:///{file}", lock_timeout_ms=1)
    with closing(sqlite3.connect(file)) as other:
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreUnavailableError, match="it is locked"):
            prove_write(engine, at=NOW)


def test_a_server_that_takes_reads_alone_answers_but_proves_no_write(new_database):
    with new_database("postgresql") as url:
        # As providers do to a server whose disk is nearly full.
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only"
                " = on', current_database()); END $$"
            )
        engine = engine_on(url)

        with pytest.raises(StoreUnavailableError):
            prove_write(engine, at=NOW)
        ping(engine)


def test_a_full_disk_answers_but_proves_no_write_until_there_is_room_again(file):
    engine = engine_on(f"sqlite:///{file}")
    prove_write(engine, at=NOW)
    log = file.with_name(f"{file.name}-wal")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    # No file of this process grows beyond the size of this one.
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        ping(engine)
        with pytest.raises(StoreUnavailableError):
            prove_write(engine, at=NOW + timedelta(seconds=1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    prove_write(engine, at=NOW + timedelta(seconds=2))


def test_damage_elsewhere_that_was_met_proves_no_write_until_something_is_written(file):
    damage(file, "comments")
    engine = engine_on(f"sqlite:///{file}")
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
