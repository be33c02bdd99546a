"""Gives tests of migrations an empty database of each kind, or one as version 1.0 made it."""

import secrets
import sqlite3
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psycopg
import sqlalchemy as sa

from tests.databases import engine_on
from tests.servers import Server

_FOLDER = Path(__file__).resolve().parents[1] / "upgrade"
# What version 1.0.0 (commit b85cd85) left after comments, decisions, accounts and lists.
ARCHIVE = _FOLDER / "slopsieve-1.0.0.tar.xz"
_SCHEMA = "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT GLOB 'search_fts_*'"


@contextmanager
def empty_postgresql(server: Server) -> Iterator[sa.Engine]:
    """Give an engine on an empty database of this server."""
    name = f"migrated_{secrets.token_hex(6)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield engine_on(server.url.replace("/postgres?", f"/{name}?"))
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def make_first_schema(engine: sa.Engine) -> None:
    """Make in an empty database the schema of version 1.0."""
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            schema = (_FOLDER / "postgresql-1.0.0.sql").read_text()
            connection.execution_options(no_parameters=True).exec_driver_sql(schema)
            return
        with tempfile.TemporaryDirectory() as folder, tarfile.open(ARCHIVE) as archive:
            archive.extract("slopsieve.db", folder, filter="data")
            with closing(sqlite3.connect(Path(folder, "slopsieve.db"))) as first:
                statements = [sql for (sql,) in first.execute(_SCHEMA)]
        for statement in (*statements, "INSERT INTO alembic_version VALUES ('m0023')"):
            connection.exec_driver_sql(statement)
