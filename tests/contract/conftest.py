"""Gives every contract its stores: on SQLite, on PostgreSQL, each test a fresh set."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator

import psycopg
import pytest
import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.site import Site
from service.stores.migrations import migrate
from service.stores.sql import create_engine
from tests.databases import Stores, fresh_stores, stores_over
from tests.factories import NOW, SITE
from tests.servers import Server

SITES = tuple(
    Site(id=SiteId(site_id), name=f"Blog {site_id}", created_at=NOW) for site_id in (SITE, "site-2")
)
_TEMPLATE = "slopsieve_template"

NewDatabase = Callable[[str], contextlib.AbstractContextManager[str]]


@pytest.fixture(scope="session")
def postgresql_template(postgresql: Server) -> Server:
    """Give a PostgreSQL server with a migrated database to copy."""
    _run(postgresql, f"CREATE DATABASE {_TEMPLATE}")
    engine = create_engine(postgresql.url.replace("/postgres?", f"/{_TEMPLATE}?"))
    migrate(engine)
    engine.dispose()
    return postgresql


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> NewDatabase:
    """Give a function that makes a fresh migrated database of a kind and returns its URL."""

    @contextlib.contextmanager
    def make(kind: str) -> Iterator[str]:
        if kind == "sqlite":
            yield fresh_stores().engine.url.render_as_string()
            return
        server = request.getfixturevalue("postgresql_template")
        name = f"test_{secrets.token_hex(8)}"
        _run(server, f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}")
        yield server.url.replace("/postgres?", f"/{name}?")
        _run(server, f"DROP DATABASE {name} WITH (FORCE)")

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, new_database: NewDatabase) -> Iterator[str]:
    """Give a fresh migrated database of each kind."""
    with new_database(request.param) as url:
        yield url


@pytest.fixture
def engine(database_url: str) -> Iterator[sa.Engine]:
    """Give an engine on a fresh migrated database of each kind."""
    engine = create_engine(database_url, lock_timeout_ms=20_000)
    yield engine
    engine.dispose()


@pytest.fixture
def stores(engine: sa.Engine) -> Stores:
    """Give a fresh set of stores of each kind that knows two sites."""
    made = stores_over(engine)
    for site in SITES:
        made.sites.add(site)
    return made


@pytest.fixture
def two_kinds(new_database: NewDatabase) -> Iterator[tuple[Stores, Stores]]:
    """Give a fresh set of stores of each kind that knows no site, to be compared."""
    with new_database("sqlite") as one, new_database("postgresql") as other:
        made = tuple(create_engine(url, lock_timeout_ms=20_000) for url in (one, other))
        yield tuple(stores_over(engine) for engine in made)
        for engine in made:
            engine.dispose()


def empty(stores: Stores, *tables: str) -> None:
    """Delete all rows of these tables and keep two sites: sooner done than a fresh database."""
    with stores.engine.begin() as connection:
        for table in tables:
            connection.exec_driver_sql(f"DELETE FROM {table}")  # noqa: S608  # our own table names
    for site in SITES:
        stores.sites.add(site)


def _run(server: Server, statement: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(statement)
