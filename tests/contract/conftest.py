"""Gives every contract its stores: on SQLite, on PostgreSQL, each test a fresh set."""

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId, SiteId
from service.domain.site import Site
from service.stores.migrations import migrate
from service.stores.sql import create_engine
from service.stores.valkey.history import ValkeyHistoryStore
from tests.databases import Stores, fresh_stores
from tests.factories import NOW, SITE
from tests.in_memory import MemoryHistoryStore
from tests.servers import Server

SITES = tuple(
    Site(id=SiteId(site_id), name=f"Blog {site_id}", created_at=NOW) for site_id in (SITE, "site-2")
)
_TEMPLATE = "slopsieve_template"

# What a test left: its connections, its rows, its numbers. All keys refer to what is deleted, too.
_CLEAN = """
DO $$ DECLARE one text; BEGIN
  PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
  SET LOCAL session_replication_role = replica;
  FOR one IN SELECT quote_ident(tablename) FROM pg_tables
    WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
    EXECUTE 'DELETE FROM ' || one;
  END LOOP;
  PERFORM setval(format('%I', sequencename)::regclass, start_value, false) FROM pg_sequences
    WHERE last_value IS NOT NULL;
END $$"""


NewDatabase = Callable[[str], contextlib.AbstractContextManager[str]]


class Databases:
    """Migrated databases of one PostgreSQL: made by copying a template, lent again once empty.

    To make one takes the server a third of a second, to empty one some milliseconds.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._free: list[sa.Engine] = []
        _run(server.url, f"CREATE DATABASE {_TEMPLATE}")
        engine = create_engine(self._url(_TEMPLATE))
        migrate(engine)
        engine.dispose()

    @contextlib.contextmanager
    def fresh(self) -> Iterator[str]:
        """Give the URL of one that nobody else gets: its schema and settings may be changed."""
        name = f"test_{secrets.token_hex(8)}"
        _run(self._server.url, f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
        yield self._url(name)
        _run(self._server.url, f"DROP DATABASE {name} WITH (FORCE)")

    @contextlib.contextmanager
    def lent(self) -> Iterator[sa.Engine]:
        """Give an engine on one without rows, whose schema stays as it is."""
        if not self._free:
            name = f"lent_{secrets.token_hex(8)}"
            _run(self._server.url, f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
            self._free.append(create_engine(self._url(name), lock_timeout_ms=20_000))
        engine = self._free.pop()
        yield engine
        engine.dispose()
        _run(self._url(str(engine.url.database)), _CLEAN)
        self._free.append(engine)

    def _url(self, name: str) -> str:
        return self._server.url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="session")
def databases(postgresql: Server) -> Databases:
    """Give databases of one PostgreSQL to the whole run."""
    return Databases(postgresql)


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> NewDatabase:
    """Give a function that makes a fresh migrated database of a kind and returns its URL."""

    @contextlib.contextmanager
    def make(kind: str) -> Iterator[str]:
        if kind == "sqlite":
            yield fresh_stores().engine.url.render_as_string()
            return
        with request.getfixturevalue("databases").fresh() as url:
            yield url

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> Iterator[sa.Engine]:
    """Give an engine on an empty migrated database of each kind."""
    if request.param == "sqlite":
        yield fresh_stores().engine
        return
    with request.getfixturevalue("databases").lent() as engine:
        yield engine


@pytest.fixture
def stores(engine: sa.Engine) -> Stores:
    """Give a fresh set of stores of each kind that knows two sites."""
    made = Stores(engine)
    for site in SITES:
        made.sites.add(site)
    return made


def _run(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Make these calls at the same time, each in a thread of its own; return their answers."""
    all_begin = threading.Barrier(len(calls), timeout=30)

    def make(call: Callable[[], Any]) -> Any:
        all_begin.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(make, calls, timeout=60))


def leaf_through(ask: Callable[[str | None], Any]) -> list[Any]:
    """Return all pages of a list; `ask(cursor)` returns one."""
    pages = [ask(None)]
    while pages[-1].next_cursor is not None:
        pages.append(ask(pages[-1].next_cursor))
    return pages


def listed(
    stores: Stores, criteria: CaseFilter | None = None, order: Order = Order.NEWEST
) -> list[CommentId]:
    page = stores.cases.page(criteria or CaseFilter(), order=order, cursor=None, limit=100)
    return [case.comment.id for case in page.items]


def to_review(stores: Stores) -> list[CommentId]:
    """Return the review queue, having seen that filter, count and cases agree on it."""
    waiting = CaseFilter(needs_review=True)
    queue = listed(stores, waiting, Order.REVIEW)
    everything = listed(stores, order=Order.REVIEW)
    assert queue == [case.comment.id for case in stores.cases.find(everything) if case.needs_review]
    assert stores.cases.count(waiting) == len(queue)
    return queue


def told(stores: Stores) -> list[str]:
    """Return the messages that are kept, in the order of adding."""
    return [one.id for one in stores.deliveries.recent(state=None, site_id=None, limit=99)][::-1]


def memory_and_valkey(memory: Callable[[], Any], on_valkey: Callable[..., Any]) -> Any:
    """Return a fixture that gives a fresh store of each kind."""

    @pytest.fixture(params=["memory", "valkey"])
    def fresh(request: pytest.FixtureRequest) -> Iterator[Any]:
        if request.param == "memory":
            yield memory()
            return
        server = request.getfixturevalue("valkey")
        store = on_valkey(server.url, prefix=secrets.token_hex(8))
        yield store
        store.close()

    return fresh


history = memory_and_valkey(MemoryHistoryStore, ValkeyHistoryStore)
