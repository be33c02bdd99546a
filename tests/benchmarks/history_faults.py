"""Prints the table of faults: what Valkey's bad days cost verdicts, and how soon each is over.

`python -m tests.benchmarks.history_faults`. A worker's loop with a classifier that costs nothing
judges batches of 64 all the while; upkeep runs as often as beat asks for it. Recovery is counted
from the moment the fault ends to the first whole batch with all its evidence, and to the moment
when histories know of every decision that was made meanwhile.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import redis

from service.domain.errors import StoreUnavailableError
from service.moderation.learning.rebuild import rebuild_if_blank
from service.moderation.learning.remember import remember_open
from service.tasks.celery_app import (
    REBUILD_EVERY_SECONDS,
    REBUILD_FOR_SECONDS,
    REMEMBER_EVERY_SECONDS,
)
from tests.integration.desk import Desk
from tests.proxies import Proxy, running_proxy
from tests.servers import Server, free_port, running_valkey

_BATCH = 64
_DECISIONS_BEFORE = 5_000
_GIVE_UP_SECONDS = 60.0
# The worker idles that long between two batches, or the table would measure the database alone.
_PAUSE_SECONDS = 0.05


@dataclass
class Place:
    """One server with a proxy before it, and a desk; what was started for a fault ends with it."""

    folder: Path
    port: int
    server: Server
    proxy: Proxy
    desk: Desk
    later: contextlib.ExitStack
    replica_port: int = 0

    def client(self, port: int | None = None) -> redis.Redis:
        """Return a client past the proxy."""
        client = redis.Redis(
            port=port or self.port, password=(self.folder / "password").read_text()
        )
        self.later.callback(client.close)
        return client


@dataclass(frozen=True)
class Fault:
    """What happens, and what ends it; one that is over at once has no `end`."""

    name: str
    begin: Callable[[Place], object]
    end: Callable[[Place], object] | None


def _stop(place: Place) -> None:
    os.kill(place.server.process.pid, signal.SIGSTOP)


def _go_on(place: Place) -> None:
    os.kill(place.server.process.pid, signal.SIGCONT)


def _restart(place: Place) -> None:
    place.later.enter_context(running_valkey(place.folder, port=place.port))


def _kill_in_a_batch(place: Place) -> None:
    def kill() -> None:
        place.server.kill()
        place.desk.classifier.meanwhile = lambda: None

    place.desk.classifier.meanwhile = kill


def _begin_failover(place: Place) -> None:
    folder, port = Path(place.later.enter_context(tempfile.TemporaryDirectory())), free_port()
    password = (place.folder / "password").read_text()
    (folder / "password").write_text(password)
    place.later.enter_context(running_valkey(folder, port=port))
    replica = place.client(port)
    replica.config_set("masterauth", password)
    replica.replicaof("127.0.0.1", place.port)
    while replica.info("replication").get("master_link_status") != "up":
        time.sleep(0.01)
    place.server.kill()
    place.replica_port = port


def _end_failover(place: Place) -> None:
    place.client(place.replica_port).replicaof("NO", "ONE")
    place.proxy.target = place.replica_port


def _set(name: str, value: str) -> Callable[[Place], object]:
    return lambda place: place.client().config_set(name, value)


def _delay(seconds: float) -> Callable[[Place], None]:
    def set_delay(place: Place) -> None:
        place.proxy.delay_seconds = seconds

    return set_delay


FAULTS = (
    Fault("slow, 0.1 s an answer", _delay(0.1), _delay(0.0)),
    Fault("slow, 2 s an answer", _delay(2.0), _delay(0.0)),
    Fault("hangs", _stop, _go_on),
    Fault("down", lambda place: place.server.kill(), _restart),
    Fault("down in the middle of a batch", _kill_in_a_batch, _restart),
    Fault("wiped", lambda place: place.client().flushall(), None),
    Fault("full", _set("maxmemory", "1"), _set("maxmemory", "0")),
    Fault(
        "read-only",
        lambda place: place.client().replicaof("127.0.0.1", free_port()),
        lambda place: place.client().replicaof("NO", "ONE"),
    ),
    Fault("fails over to a replica", _begin_failover, _end_failover),
)


@dataclass
class Watch:
    """What was seen of the batches of one stretch."""

    batches: int = 0
    degraded: int = 0
    lost: int = 0
    longest_seconds: float = 0.0


class Loop:
    """A worker's loop: batches, a decision now and then, upkeep as beat asks for it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        now = time.monotonic()
        self._rebuild_at = now + REBUILD_EVERY_SECONDS
        self._remember_at = now + REMEMBER_EVERY_SECONDS

    def batch(self, watch: Watch) -> bool:
        """Judge one batch, note how it went and return whether it had all its evidence."""
        began = time.perf_counter()
        verdicts = self._desk.judge(_BATCH)
        watch.longest_seconds = max(watch.longest_seconds, time.perf_counter() - began)
        watch.batches += 1
        watch.lost += _BATCH - len(verdicts)
        degraded = any(verdict.degraded for verdict in verdicts)
        watch.degraded += degraded
        self._upkeep()
        time.sleep(_PAUSE_SECONDS)
        return not degraded

    def _upkeep(self) -> None:
        now = time.monotonic()
        with contextlib.suppress(StoreUnavailableError):
            if now >= self._rebuild_at:
                self._rebuild_at = now + REBUILD_EVERY_SECONDS
                ends = now + REBUILD_FOR_SECONDS
                rebuild_if_blank(
                    self._desk.services.reputation,
                    self._desk.services.review,
                    goes_on=lambda: time.monotonic() < ends,
                )
        with contextlib.suppress(StoreUnavailableError):
            if now >= self._remember_at:
                self._remember_at = now + REMEMBER_EVERY_SECONDS
                remember_open(self._desk.services)


@contextlib.contextmanager
def _place() -> Iterator[Place]:
    with contextlib.ExitStack() as later:
        folder = Path(later.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        server = later.enter_context(running_valkey(folder, port=port))
        proxy = later.enter_context(running_proxy(port))
        password = (folder / "password").read_text()
        desk = Desk(f"redis://:{password}@127.0.0.1:{proxy.port}/0")
        later.callback(desk.close)
        desk.upkeep()
        for _ in range(_DECISIONS_BEFORE):
            desk.decide()
        yield Place(folder, port, server, proxy, desk, later)


def _run(fault: Fault, seconds: float) -> list[str]:
    with _place() as place:
        desk, loop = place.desk, Loop(place.desk)
        loop.batch(Watch())
        fault.begin(place)
        during, after = Watch(), Watch()
        began = time.monotonic()
        loop.batch(during)
        desk.decide()
        while fault.end is not None and time.monotonic() < began + seconds:
            loop.batch(during)
            if during.batches % 10 == 0:
                desk.decide()
        if fault.end is not None:
            fault.end(place)
        ended = began if fault.end is None else time.monotonic()
        evidence = _await(lambda: loop.batch(after), ended)
        learnt = _await(lambda: _all_learnt(desk, loop, after), ended)
        reading, teaching = desk.breaker.reading.counts(), desk.breaker.teaching.counts()
        return [
            fault.name,
            f"{during.batches}",
            f"{during.degraded}",
            f"{during.lost + after.lost}",
            f"{1000 * during.longest_seconds:.0f} ms",
            f"{reading.refused + teaching.refused}",
            evidence,
            learnt,
        ]


def _all_learnt(desk: Desk, loop: Loop, watch: Watch) -> bool:
    if desk.unremembered():
        loop.batch(watch)
        return False
    return True


def _await(is_over: Callable[[], bool], since: float) -> str:
    while not is_over():
        if time.monotonic() - since > _GIVE_UP_SECONDS:
            return f"not in {_GIVE_UP_SECONDS:.0f} s"
    return f"{time.monotonic() - since:.1f} s"


_COLUMNS = (
    "Valkey",
    "batches meanwhile",
    "degraded",
    "verdicts lost",
    "longest batch",
    "calls refused",
    "evidence whole after",
    "all learnt after",
)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description="The table of faults of the history store.")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each fault lasts")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    print(f"| {' | '.join(_COLUMNS)} |")
    print(f"|---|{'--:|' * (len(_COLUMNS) - 1)}")
    for fault in FAULTS:
        print(f"| {' | '.join(_run(fault, given.seconds))} |", flush=True)


if __name__ == "__main__":
    main()
