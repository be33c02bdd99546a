"""Tests how the database engine opens, waits, fails."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.domain.errors import StoreUnavailableError
from service.stores.sql import Connections, SqlStores, create_engine, ping
from service.stores.sql.engine import reading, write
from tests.factories import keep_all, make_comment
from tests.servers import Server, running_postgresql


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "slopsieve.db"


@pytest.fixture
def engine(database: Path):
    engine = create_engine(f"sqlite:///{database}", lock_timeout_ms=50)
    yield engine
    engine.dispose()


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

    ended = subprocess.run(
        [sys.executable, "-c", script, str(database)], capture_output=True, text=True, check=False
    )

    assert ended.stdout == "PostgreSQL needs its driver, psycopg: run `make install`\n", ended


def test_a_commit_is_durable_and_references_are_checked(engine):
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


def test_an_error_never_shows_what_was_to_be_kept(engine):
    comment = make_comment("something private", id="c1")

    with pytest.raises(StoreUnavailableError) as failure:
        keep_all(SqlStores(engine).comments, comment)

    assert "private" not in f"{failure.value} {failure.value.__cause__}"


def test_of_two_transactions_that_wait_for_each_other_one_is_tried_again(postgresql: Server):
    engine = create_engine(postgresql.url)
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

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(cross, range(2)))

    write(engine, lambda c: c.exec_driver_sql("DROP TABLE crossing"))
    engine.dispose()
    # If both ask at the same moment who waits for whom, PostgreSQL ends both.
    assert max(tries) == 2


def test_writers_of_one_process_and_of_others_take_turns(database):
    engines = [create_engine(f"sqlite:///{database}") for _ in range(3)]
    write(engines[0], lambda c: c.exec_driver_sql("CREATE TABLE counts (n INTEGER)"))
    write(engines[0], lambda c: c.exec_driver_sql("INSERT INTO counts VALUES (0)"))

    def count(engine: sa.Engine) -> None:
        for _ in range(20):
            write(engine, lambda c: c.exec_driver_sql("UPDATE counts SET n = n + 1"))

    with ThreadPoolExecutor(12) as crowd:
        for done in [crowd.submit(count, engines[n % 3]) for n in range(12)]:
            done.result(60)

    with reading(engines[0]) as connection:
        assert connection.exec_driver_sql("SELECT n FROM counts").scalar() == 240
    for engine in engines:
        engine.dispose()


def test_who_waits_too_long_for_a_turn_is_told(database):
    engine = create_engine(f"sqlite:///{database}", lock_timeout_ms=50)
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
    engine.dispose()


def test_connections_that_were_cut_are_replaced_and_a_server_that_is_gone_is_unavailable(
    monkeypatch,
):
    # Every connection is asked whether it answers, however short it lay idle.
    monkeypatch.setattr("service.stores.sql.engine._TRUSTED_SECONDS", 0.0)
    with running_postgresql() as server:
        engine = create_engine(server.url)
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
        engine.dispose()

    assert answers == [1, 1]


def asks(connection: sa.Connection, query: str) -> object:
    return connection.exec_driver_sql(query).scalar_one()


@pytest.mark.parametrize(("behind_pooler", "prepared"), [(False, True), (True, False)])
def test_statements_are_prepared_unless_a_pooler_is_in_between(
    postgresql: Server, behind_pooler, prepared
):
    engine = create_engine(
        postgresql.url, connections=Connections(kept=1, more=0, behind_pooler=behind_pooler)
    )

    for _ in range(8):
        with reading(engine) as connection:
            connection.execute(sa.text("SELECT 1 + :n"), {"n": 1})

    with reading(engine) as connection:
        found = asks(connection, "SELECT count(*) FROM pg_prepared_statements")
    engine.dispose()
    assert (found != 0) is prepared


@pytest.mark.parametrize("behind_pooler", [False, True])
def test_every_wait_is_bounded_whoever_had_the_connection_before(postgresql: Server, behind_pooler):
    engine = create_engine(
        postgresql.url, connections=Connections(kept=1, more=0, behind_pooler=behind_pooler)
    )
    if behind_pooler:
        with engine.connect() as connection:
            # As a pooler leaves it that lent it to somebody else in between.
            connection.exec_driver_sql("COMMIT")
            connection.exec_driver_sql("RESET ALL")

    limits = []
    with reading(engine) as connection:
        limits.append(asks(connection, "SELECT current_setting('lock_timeout')"))
    limits.append(write(engine, lambda c: asks(c, "SELECT current_setting('statement_timeout')")))

    engine.dispose()
    assert limits == ["5s", "15s"]


def test_no_more_connections_are_opened_than_allowed(postgresql: Server, monkeypatch):
    monkeypatch.setattr("service.stores.sql.engine._POOL_TIMEOUT_SECONDS", 0.05)
    engine = create_engine(postgresql.url, connections=Connections(kept=1, more=1))

    with reading(engine), reading(engine), pytest.raises(StoreUnavailableError):
        ping(engine)

    engine.dispose()
