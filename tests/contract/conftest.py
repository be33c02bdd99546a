"""Gives every contract its stores: in memory, on SQLite, on PostgreSQL, each test a fresh set."""

from __future__ import annotations

import contextlib
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from service.domain.comment import SiteId
from service.domain.site import Site
from service.stores.memory.stores import MemoryStores, memory_stores
from service.stores.migrations import migrate
from service.stores.sql import SqlStores, create_engine, sql_stores
from tests.factories import NOW, SITE
from tests.servers import Server

SITES = tuple(
    Site(id=SiteId(site_id), name=f"Blog {site_id}", created_at=NOW) for site_id in (SITE, "site-2")
)
_TEMPLATE = "slopsieve_template"

NewDatabase = Callable[[str], contextlib.AbstractContextManager[str]]


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a migrated SQLite file to copy; that is quicker than to migrate for each test."""
    path = tmp_path_factory.mktemp("template") / "template.db"
    engine = create_engine(f"sqlite:///{path}")
    migrate(engine)
    engine.dispose()
    return path


@pytest.fixture(scope="session")
def postgresql_template(postgresql: Server) -> Server:
    """Give a PostgreSQL server with a migrated database to copy."""
    _run(postgresql, f"CREATE DATABASE {_TEMPLATE}")
    engine = create_engine(postgresql.url.replace("/postgres?", f"/{_TEMPLATE}?"))
    migrate(engine)
    engine.dispose()
    return postgresql


@pytest.fixture
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    """Give a function that makes a fresh migrated database of a kind and returns its URL."""

    @contextlib.contextmanager
    def make(kind: str) -> Iterator[str]:
        if kind == "sqlite":
            path = tmp_path / "slopsieve.db"
            shutil.copy(request.getfixturevalue("sqlite_template"), path)
            yield f"sqlite:///{path}"
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


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def stores(
    request: pytest.FixtureRequest, new_database: NewDatabase
) -> Iterator[MemoryStores | SqlStores]:
    """Give a fresh set of stores of each kind that knows two sites."""
    if request.param == "memory":
        yield memory_stores(sites=SITES)
        return
    with new_database(request.param) as url:
        engine = create_engine(url, lock_timeout_ms=20_000)
        made = sql_stores(engine)
        for site in SITES:
            made.sites.add(site)
        yield made
        engine.dispose()


def _run(server: Server, statement: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(statement)
