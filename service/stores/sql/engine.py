"""Creates engines with durable commits and limited waits."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    InterfaceError,
    InternalError,
    InvalidatePoolError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection

from service.domain.errors import StoreDamagedError, StoreFullError, StoreUnavailableError
from service.install_commands import install_command

log = logging.getLogger(__name__)
_T = TypeVar("_T")

# The longest write, 1,000 comments, holds the lock for about 0.1 s.
_LOCK_TIMEOUT_MS = 5_000
_STATEMENT_TIMEOUT_MS = 15_000
_CONNECT_TIMEOUT_SECONDS = 3
_POOL_TIMEOUT_SECONDS = 5
# A PostgreSQL connection that is older is replaced before it is used again.
_RECYCLE_SECONDS = 1_800
# The lowest byte of SQLite's extended result code is the primary code.
_PRIMARY_CODE = 0xFF
_FULL = {sqlite3.SQLITE_FULL, "53100"}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, "XX001", "XX002"}
# Errors while a connection is prepared are the driver's own.
_AWAY = (OperationalError, InterfaceError, InternalError, PoolTimeoutError, sqlite3.DatabaseError)
_CAUSES: dict[object, str] = {
    sqlite3.SQLITE_BUSY: "it is locked",
    sqlite3.SQLITE_IOERR: "its disk reports errors",
    sqlite3.SQLITE_READONLY: "it can only be read",
}
# PostgreSQL aborts one of two deadlocked transactions; it succeeds when repeated.
_DEADLOCK_TRIES = 4
_DEADLOCK_PAUSE_SECONDS = 0.01

_WRITING = "slopsieve_writing"
_STATE = "slopsieve_state"
# A connection used more recently than this is not tested before use, which saves a round trip. A
# restart of the database takes longer.
_TRUSTED_SECONDS = 1.0
_USED_AT = "slopsieve_used_at"
# SQLite's own busy handler sleeps up to 0.1 s while a write takes one or two milliseconds. At 200
# comments a second, 47 met their deadline with it, all 200 with turns and short sleeps.
_WRITE_TURN_SLEEP_SECONDS = 0.001
_IS_DAMAGED = "the database cannot be used now: its file is damaged"
_FORMS = "a database URL begins with postgresql:// or is sqlite:///FILE"


def create_engine(
    url: str,
    *,
    lock_timeout_ms: int = _LOCK_TIMEOUT_MS,
    kept: int = 8,
    more: int = 56,
    behind_pooler: bool = False,
) -> sa.Engine:
    """Return an engine for a `sqlite:///file` or `postgresql://` URL; it connects lazily.

    It keeps `kept` connections open, and opens `more` under load. Statements fail that wait longer
    than `lock_timeout_ms` for a lock. With `behind_pooler` no transaction relies on an earlier
    one's session, because PgBouncer lends a connection per transaction: nothing is prepared, and
    each transaction sets its own timeouts. Raise `ValueError` for any other URL, without its
    password in the message, and for PostgreSQL if its driver is missing.
    """
    options: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": kept,
        "max_overflow": more,
        "pool_timeout": _POOL_TIMEOUT_SECONDS,
        "execution_options": {_STATE: _State(lock_timeout_ms / 1000)},
    }
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise ValueError(f"it is no URL; {_FORMS}") from None
    backend = parsed.drivername.partition("+")[0]
    if backend in ("postgres", "postgresql"):
        try:
            parsed = parsed.set(drivername="postgresql+psycopg")
            options["pool_recycle"] = _RECYCLE_SECONDS
            return _postgresql_engine(parsed, lock_timeout_ms, options, behind_pooler=behind_pooler)
        except ImportError:
            msg = f"PostgreSQL needs its driver, psycopg: run `{install_command('postgres')}`"
            raise ValueError(msg) from None
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        waits = {"timeout": lock_timeout_ms / 1000}
        engine = sa.create_engine(parsed.set(drivername="sqlite"), connect_args=waits, **options)
        sa.event.listen(engine, "connect", _prepare_sqlite)
        sa.event.listen(engine, "begin", _begin_sqlite)
        return engine
    raise ValueError(f"{backend} is not supported; {_FORMS}")


def _prepare_sqlite(connection: Any, _record: object) -> None:
    """Make commits durable and let several processes read and write concurrently."""
    # The driver sends BEGIN late and never IMMEDIATE; `_begin_sqlite` sends it.
    connection.isolation_level = None
    # SQLite's own timeout does not cover two processes that switch a new database to WAL.
    deadline = time.monotonic() + _LOCK_TIMEOUT_MS / 1000
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA foreign_keys=ON")
    # 8 MB per connection; a busy API may have 64 connections.
    connection.execute("PRAGMA cache_size=-8000")


def _begin_sqlite(connection: sa.Connection) -> None:
    """Take the write lock at the start, because readers that become writers could deadlock."""
    options = connection.get_execution_options()
    if not options.get(_WRITING, False):
        connection.exec_driver_sql("BEGIN")
        return
    driver: Any = connection.connection.driver_connection
    patience_seconds = options[_STATE].patience_seconds
    deadline = time.monotonic() + patience_seconds
    driver.execute("PRAGMA busy_timeout=0")
    try:
        while True:
            is_last_try = time.monotonic() >= deadline
            try:
                driver.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                is_busy = error.sqlite_errorcode & _PRIMARY_CODE == sqlite3.SQLITE_BUSY
                if is_last_try or not is_busy:
                    raise
            else:
                return
            time.sleep(_WRITE_TURN_SLEEP_SECONDS)
    finally:
        driver.execute(f"PRAGMA busy_timeout={round(patience_seconds * 1000)}")


@contextmanager
def _turn(engine: sa.Engine) -> Iterator[None]:
    """Serialize a process's writes to SQLite without polling."""
    state = _state(engine)
    if not state.writing.acquire(timeout=state.patience_seconds):
        raise StoreUnavailableError("the database is busy with other writes")
    try:
        yield
    finally:
        state.writing.release()


def _postgresql_engine(
    url: sa.URL, lock_timeout_ms: int, options: Mapping[str, Any], *, behind_pooler: bool
) -> sa.Engine:
    engine = sa.create_engine(
        url,
        **options,
        isolation_level="READ COMMITTED",
        connect_args={
            # Executions before a statement is prepared; 5 is psycopg's default.
            "prepare_threshold": None if behind_pooler else 5,
            "connect_timeout": _CONNECT_TIMEOUT_SECONDS,
            "application_name": "slopsieve",
            "tcp_user_timeout": _STATEMENT_TIMEOUT_MS,
        },
    )

    # Poolers such as PgBouncer refuse settings in the connection string.
    limits = (
        "SELECT set_config('timezone', 'UTC', {local}), "
        f"set_config('lock_timeout', '{lock_timeout_ms}', {{local}}), "
        f"set_config('statement_timeout', '{_STATEMENT_TIMEOUT_MS}', {{local}}), "
        "set_config('idle_in_transaction_session_timeout', "
        f"'{_STATEMENT_TIMEOUT_MS}', {{local}})"
    )

    def limit_session(connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(limits.format(local="false"))
        cursor.close()
        connection.commit()

    def limit_transaction(connection: sa.Connection) -> None:
        connection.exec_driver_sql(limits.format(local="true"))

    def note_use(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info[_USED_AT] = time.monotonic()

    def refuse_dead(
        connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: PoolProxiedConnection
    ) -> None:
        """Have the pool replace its connections if this one, unused for a while, fails."""
        used_at = record.info.get(_USED_AT)
        if used_at is None or time.monotonic() - used_at < _TRUSTED_SECONDS:
            return
        try:
            engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError("the connection does not answer") from error

    if behind_pooler:
        sa.event.listen(engine, "begin", limit_transaction)
    else:
        sa.event.listen(engine, "connect", limit_session)
    sa.event.listen(engine, "checkin", note_use)
    sa.event.listen(engine, "checkout", refuse_dead)
    return engine


class _SharedConnection(threading.local):
    """The connection with which a thread reads within `read_snapshot`."""

    is_open = False
    in_use = 0
    connection: sa.Connection | None = None

    def take(self, engine: sa.Engine) -> sa.Connection:
        if self.connection is None:
            self.connection = _reader(engine)
        return self.connection

    def release(self) -> None:
        connection, self.connection = self.connection, None
        if connection is not None:
            connection.close()


class _State:
    """State of an engine that a process's threads share."""

    def __init__(self, patience_seconds: float) -> None:
        self.patience_seconds = patience_seconds
        self.writing = threading.Lock()
        self.held = _SharedConnection()
        # Found since the last write; the row of the write probe may be undamaged.
        self.met_damage = False
        self.logged_mistakes: set[str] = set()


def _state(engine: sa.Engine) -> _State:
    state: _State = engine.get_execution_options()[_STATE]
    return state


@contextmanager
def read_snapshot(engine: sa.Engine) -> Iterator[None]:
    """Run all reads of this thread in one snapshot, over one connection.

    The snapshot begins with the first read. A write by this thread ends it, so that the thread sees
    its own changes. A nested call has no effect. Use it for no longer than a page.
    """
    held = _state(engine).held
    if held.is_open:
        yield
        return
    held.is_open = True
    try:
        yield
    finally:
        held.is_open = False
        with our_errors(engine):
            held.release()


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Provide a connection that reads one snapshot; within `read_snapshot`, that snapshot.

    Raise `StoreUnavailableError`.
    """
    held = _state(engine).held
    with our_errors(engine):
        if not held.is_open:
            with _reader(engine) as connection, connection.begin():
                yield connection
            return
        held.in_use += 1
        try:
            yield held.take(engine)
        except BaseException:
            # After an error PostgreSQL refuses all further statements of a transaction.
            held.release()
            raise
        finally:
            held.in_use -= 1


def _reader(engine: sa.Engine) -> sa.Connection:
    connection = engine.connect()
    if engine.dialect.name != "postgresql":
        return connection
    return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def write(engine: sa.Engine, work: Callable[[sa.Connection], _T]) -> _T:
    """Call `work` in a transaction, again after a deadlock; return its result once durable."""
    with our_errors(engine):
        for number in range(1, _DEADLOCK_TRIES):
            try:
                return _write_once(engine, work)
            except (DBAPIError, engine.dialect.loaded_dbapi.OperationalError) as error:
                # Errors within a COPY are the driver's own.
                driver_error = getattr(error, "orig", error)
                if getattr(driver_error, "sqlstate", None) != "40P01":
                    raise
            # Without a pause the two might deadlock again.
            time.sleep(_DEADLOCK_PAUSE_SECONDS * number)
        return _write_once(engine, work)


def _write_once(engine: sa.Engine, work: Callable[[sa.Connection], _T]) -> _T:
    held = _state(engine).held
    if not held.in_use:
        # Released first, because threads that wait for a second connection might deadlock.
        held.release()
    with (
        _turn(engine) if engine.dialect.name == "sqlite" else nullcontext(),
        engine.connect().execution_options(**{_WRITING: True}) as connection,
        connection.begin(),
    ):
        answer = work(connection)
    _state(engine).met_damage = False
    return answer


@contextmanager
def our_errors(engine: sa.Engine) -> Iterator[None]:
    """Raise `StoreUnavailableError` for errors other than a statement's own; record damage."""
    try:
        yield
    except (*_AWAY, engine.dialect.loaded_dbapi.OperationalError) as error:
        raise _unavailable(error, engine) from error
    except DatabaseError as error:
        # sqlite3 raises the base class for a damaged file or one that is no database.
        if type(error) is not DatabaseError:
            raise
        raise _unavailable(error, engine) from error


def _unavailable(error: Exception, engine: sa.Engine) -> StoreUnavailableError:
    driver_error = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(driver_error, "sqlite_errorcode", None)
    cause = getattr(driver_error, "sqlstate", None) if code is None else code & _PRIMARY_CODE
    if cause in _FULL:
        return StoreFullError("the database cannot be used now: its disk is full")
    if cause in _DAMAGED:
        _state(engine).met_damage = True
        return StoreDamagedError(_IS_DAMAGED)
    mistakes, said = _state(engine).logged_mistakes, str(driver_error)
    if cause == sqlite3.SQLITE_ERROR and said not in mistakes:
        mistakes.add(said)
        log.error("a statement does not fit the database's schema", exc_info=error)
    why = _CAUSES.get(cause, type(error).__name__)
    return StoreUnavailableError(f"the database cannot be used now: {why}")


def ping(engine: sa.Engine) -> None:
    """Check that the database responds. Raise `StoreUnavailableError`, also for damage."""
    refuse_damaged(engine)
    with reading(engine) as connection:
        connection.execute(sa.select(1))


def refuse_damaged(engine: sa.Engine) -> None:
    """Raise `StoreDamagedError` if this process found damage and has not written since."""
    if _state(engine).met_damage:
        raise StoreDamagedError(_IS_DAMAGED)


def is_whole(path: Path) -> bool:
    """Return True if SQLite finds no damage in tables and indexes; it reads the entire file.

    Raise `OSError` if the file cannot be opened.
    """
    with path.open("rb"):
        pass
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & _PRIMARY_CODE in _DAMAGED:
            return False
        raise OSError(f"{path.name} cannot be read: {type(error).__name__}") from error
