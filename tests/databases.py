"""Lends tests databases: SQLite files on a RAM file system, each a copy of a migrated one."""

import atexit
import contextlib
import functools
import itertools
import os
import shutil
import sqlite3
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.util import LRUCache

from service.domain.site import Site
from service.stores.migrations import migrate
from service.stores.sql import SqlStores, create_engine
from tests.in_memory import MemoryHistoryStore

# A commit to a disk waits for the disk, and a test makes hundreds.
_RAM = Path("/dev/shm")  # noqa: S108  # a folder of this process's own is made in it
# So many databases stay after their tests, for threads that a test left behind.
_RESTING = 64
_numbers = itertools.count()
_lent: list[sa.Engine] = []
_on_others: list[sa.Engine] = []
_ended: deque[sa.Engine] = deque()
_opened: dict[str, sa.Engine] = {}
_compiled = LRUCache[Any, Any](5_000)


class Stores(SqlStores):
    """The SQL adapters over one database, and histories, which no database keeps."""

    def __init__(self, engine: sa.Engine) -> None:
        super().__init__(engine)
        self.engine = engine
        self.history = MemoryHistoryStore()


def fresh_stores(*, sites: Sequence[Site] = (), world: bytes | None = None) -> Stores:
    """Return stores over a database of their own, with these sites in it, or over a kept `world`.

    They end with the test, or with `databases_given_back`.
    """
    return Stores(_lend(_begun(tuple(sites)) if world is None else world))


def engine_on(url: str, **options: Any) -> sa.Engine:
    """Return an engine on a database that is somebody else's; it ends as `fresh_stores` do."""
    _on_others.append(create_engine(url, **options))
    return _on_others[-1]


@contextlib.contextmanager
def databases_given_back() -> Iterator[None]:
    """End the databases that are lent within: for a test, or for one of its many examples."""
    before, others_before = len(_lent), len(_on_others)
    try:
        yield
    finally:
        while len(_on_others) > others_before:
            _on_others.pop().dispose()
        while len(_lent) > before:
            engine = _lent.pop()
            engine.dispose()
            _ended.append(engine)
        while len(_ended) > _RESTING:
            _remove(_ended.popleft())


def content_of(stores: Stores) -> bytes:
    """Return the database as it stands, as the `world` of others."""
    stores.engine.dispose()
    with contextlib.closing(sqlite3.connect(str(stores.engine.url.database))) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.serialize()


def damage(path: Path, name: str) -> None:
    """Overwrite the first page of a table or an index, as a failing disk does."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        (page,) = connection.execute(query, (name,)).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xaa" * size)


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
    # A name is used once: what a thread of an earlier test still writes must not be found here.
    engine = _open(str(next(_numbers)))
    Path(str(engine.url.database)).write_bytes(content)
    _lent.append(engine)
    return engine


def _remove(engine: sa.Engine) -> None:
    engine.dispose()
    for ending in ("", "-wal", "-shm"):
        Path(f"{engine.url.database}{ending}").unlink(missing_ok=True)
