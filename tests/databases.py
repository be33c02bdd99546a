"""Lends tests databases: SQLite files on a RAM file system, each a copy of a migrated one."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

from service.domain.site import Site
from service.stores.migrations import migrate
from service.stores.sql import SqlStores, create_engine, sql_stores
from tests.in_memory import MemoryHistoryStore

# A commit to a disk waits for the disk, and a test makes hundreds.
_RAM = Path("/dev/shm")  # noqa: S108  # a folder of this process's own is made in it
# A later test gets an engine again once threads that a test left behind have ended.
_RESTING = 64
_free: list[sa.Engine] = []
_lent: list[sa.Engine] = []
_opened: dict[str, sa.Engine] = {}
_compiled = LRUCache[Any, Any](5_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stores(SqlStores):
    """The SQL adapters over one database, and histories, which no database keeps."""

    engine: sa.Engine
    history: MemoryHistoryStore


def fresh_stores(*, sites: Sequence[Site] = (), world: bytes | None = None) -> Stores:
    """Return stores over a database of their own, with these sites in it, or over a kept `world`.

    They end with the test, or with `databases_given_back`.
    """
    return stores_over(_lend(_begun(tuple(sites)) if world is None else world))


def stores_over(engine: sa.Engine) -> Stores:
    """Return stores over a migrated database, and fresh histories."""
    made = sql_stores(engine)
    ports = {port.name: getattr(made, port.name) for port in fields(made)}
    return Stores(**ports, engine=engine, history=MemoryHistoryStore())


@contextlib.contextmanager
def databases_given_back() -> Iterator[None]:
    """End the databases that are lent within: for a test, or for one of its many examples."""
    before = len(_lent)
    try:
        yield
    finally:
        while len(_lent) > before:
            _lent[-1].dispose()
            _free.append(_lent.pop())


def content_of(stores: Stores) -> bytes:
    """Return the database as it stands, as the `world` of others."""
    stores.engine.dispose()
    with contextlib.closing(sqlite3.connect(str(stores.engine.url.database))) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.serialize()


@functools.lru_cache(maxsize=16)
def _begun(sites: tuple[Site, ...]) -> bytes:
    """Return a migrated database with these sites in it."""
    if not sites:
        engine = _open("template")
        migrate(engine)
        engine.dispose()
        return (_folder() / "template.db").read_bytes()
    with databases_given_back():
        stores = fresh_stores()
        for site in sites:
            stores.sites.add(site)
        return content_of(stores)


@functools.cache
def _folder() -> Path:
    ram = _RAM if os.access(_RAM, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="slopsieve-", dir=ram))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _open(name: str) -> sa.Engine:
    """Return an engine that shares with all others what one of them has compiled."""
    # The cases of PostgreSQL's contract wait for each other longer, on a busy machine.
    engine = create_engine(f"sqlite:///{_folder()}/{name}.db", lock_timeout_ms=20_000)
    # What is compiled is kept by the dialect that it was compiled for.
    engine.dialect = _opened.setdefault("first", engine).dialect
    engine._compiled_cache = _compiled
    return engine


def _lend(content: bytes) -> sa.Engine:
    number = len(_free) + len(_lent)
    rested = len(_free) > _RESTING
    engine = _free.pop(0) if rested else _open(str(number))
    path = Path(str(engine.url.database))
    # Whoever still has the old file open goes on with that one.
    engine.dispose()
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    # In one step: a thread that an earlier test left behind never finds an empty one.
    path.with_suffix(".new").write_bytes(content)
    path.with_suffix(".new").replace(path)
    _lent.append(engine)
    return engine
