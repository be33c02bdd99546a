"""Gives use cases a real database: services over SQLite, and stores that fail at one call."""

from __future__ import annotations

import contextlib
import functools
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from service.domain.errors import StoreUnavailableError
from service.domain.site import Site
from service.moderation.learning.remember import teach
from service.ports.services import Services
from service.stores.list_entries import BookKeeper
from service.stores.migrations import migrate
from service.stores.sql import SqlStores, create_engine, sql_stores
from tests.fakes import FixedClock, make_services, make_site

# A commit to a disk waits for the disk, and a test makes hundreds.
_RAM = Path("/dev/shm")  # noqa: S108  # a folder of this test's own is made in it
_STORES = tuple(one.name for one in fields(SqlStores) if one.name != "one_moment")
_FAILING = (*_STORES, "history", "queue", "delivery_queue")


@functools.cache
def _template() -> bytes:
    with _folder() as folder:
        engine = create_engine(f"sqlite:///{folder}/template.db")
        migrate(engine)
        engine.dispose()
        return (folder / "template.db").read_bytes()


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="slopsieve-", dir=_RAM if _RAM.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def sqlite_services(
    *, sites: Sequence[Site] | None = None, world: bytes | None = None, **changes: Any
) -> Iterator[Services]:
    """Give services as `make_services` does, whose stores are those of a SQLite database.

    It is a fresh one with these sites, or a `world` that `kept_world` returned. Histories know what
    is decided there.
    """
    with _folder() as folder:
        (folder / "slopsieve.db").write_bytes(world or _template())
        engine = create_engine(f"sqlite:///{folder}/slopsieve.db")
        stores = sql_stores(engine)
        for site in ([make_site()] if sites is None else sites) if world is None else ():
            stores.sites.add(site)
        clock = changes.pop("clock", None) or FixedClock()
        services = replace(
            make_services(clock=clock, **changes),
            **{name: getattr(stores, name) for name in _STORES},
            entries_in_force=BookKeeper(stores.list_entries, clock, recheck_seconds=0).current,
            one_moment=stores.one_moment,
        )
        services.queue.services = services
        for known in stores.decisions.find_in_force(after=0, limit=999).precedents:
            teach(known, services)
        try:
            yield services
        finally:
            engine.dispose()


def kept_world(prepare: Callable[[Services], None], **changes: Any) -> bytes:
    """Return a database as `prepare` leaves it, to be begun with often."""
    with sqlite_services(**changes) as services:
        prepare(services)
        services.one_moment.args[0].dispose()
        with contextlib.closing(sqlite3.connect(services.one_moment.args[0].url.database)) as file:
            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return file.serialize()


class FailingAt:
    """Services whose stores fail at one call of all, the `at`-th, and answer all others.

    It fails before it has done anything or, with `answer_lost`, after it has done everything.
    With `at` 0 none fails; `calls` names the methods that were called, in order.
    """

    def __init__(self, services: Services, at: int = 0, *, answer_lost: bool = False) -> None:
        self.calls: list[str] = []
        self._at = at
        self._answer_lost = answer_lost
        wrapped: dict[str, Any] = {
            name: _Watched(getattr(services, name), self.call) for name in _FAILING
        }
        self.services = replace(services, **wrapped)

    def call(self, method: Any, *given: Any, **named: Any) -> Any:
        """Call a store's method, unless it is to fail."""
        self.calls.append(method.__name__)
        fails = len(self.calls) == self._at
        if fails and not self._answer_lost:
            raise StoreUnavailableError("the store went away")
        answer = method(*given, **named)
        if fails:
            raise StoreUnavailableError("the store's answer was lost")
        return answer


class _Watched:
    """Passes the calls of a store's methods to somebody else."""

    def __init__(self, store: Any, call: Any) -> None:
        self._store = store
        self._call = call

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        return functools.partial(self._call, found) if callable(found) else found
