"""Gives tests of migrations an empty database of each kind."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import sqlalchemy as sa

from service.stores.sql import create_engine
from tests.servers import Server


@contextmanager
def empty_sqlite(folder: Path) -> Iterator[sa.Engine]:
    """Give an engine on an empty file."""
    engine = create_engine(f"sqlite:///{folder / 'empty.db'}")
    yield engine
    engine.dispose()


@contextmanager
def empty_postgresql(server: Server) -> Iterator[sa.Engine]:
    """Give an engine on an empty database of this server."""
    name = f"migrated_{secrets.token_hex(6)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        engine = create_engine(server.url.replace("/postgres?", f"/{name}?"))
        yield engine
        engine.dispose()
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
