"""Lets one thing go wrong at a time below the capacity, and prints how verdicts come afterwards.

`python -m tests.benchmarks.recovery --rate 60 "valkey wiped" "version swapped"`; without
names all of them. PostgreSQL and Valkey are servers of their own, two workers judge.
"""

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import redis

from models.registry import SHIPPED_DIR, read_current_name
from tests.benchmarks.bench_load import Figures, add_sites, make_requests, offer, p99
from tests.benchmarks.faults import Client
from tests.benchmarks.own_service import family, named, program, running
from tests.servers import Server, free_port, running_postgresql, running_valkey

_WINDOW_SECONDS = 5.0
_AWAY_SECONDS = 60.0
_HELD_SECONDS = 30.0
# The promise to an Akismet client; see `service.web.akismet.views`.
_PROMISE_SECONDS = 0.8
# Servers end with the thread that started them.
_EVENTS_THREAD = ThreadPoolExecutor(1)
_COPIES = """
INSERT INTO {table} ({columns}) SELECT {values}
FROM {table}, generate_series(1, {count}) AS n WHERE {table}.{key} = '{id}'
"""


@dataclass(frozen=True, slots=True)
class Place:
    """A running service and the servers below it."""

    up: Mapping[str, Any]
    postgresql: Server
    valkey: Server
    stack: contextlib.ExitStack


def main() -> None:
    """Print how the service fares under each event."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", nargs="*", default=list(EVENTS), help=", ".join(EVENTS))
    parser.add_argument("--rate", type=float, default=60.0, help="checks a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="after the event has ended")
    parser.add_argument("--decided", type=int, default=0, help="comments decided before, thousands")
    given = parser.parse_args()
    with _running() as place:
        requests = make_requests(place.up["url"], add_sites(place.up))
        if given.decided:
            _decide(place, given.decided * 1_000)
        asyncio.run(offer(place.up["url"], requests, rate=given.rate, seconds=20))
        for name in given.events:
            asyncio.run(_observe(name, place, requests, given.rate, given.seconds))


@contextlib.contextmanager
def _running() -> Iterator[Place]:
    with contextlib.ExitStack() as stack:
        postgresql = stack.enter_context(running_postgresql(durable=True))
        valkey = stack.enter_context(running_valkey(port=free_port()))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="slopsieve-versions-"))
        versions = Path(folder)
        shutil.copytree(SHIPPED_DIR, versions, dirs_exist_ok=True)
        shutil.copytree(versions / read_current_name(versions), versions / "copy")
        # Commands of this process use the same servers.
        os.environ |= {
            "SLOPSIEVE_DATABASE_URL": postgresql.url,
            "SLOPSIEVE_VALKEY_URL": valkey.url,
            "SLOPSIEVE_MODELS_DIR": str(versions),
        }
        up = stack.enter_context(running("--workers", "2"))
        yield Place(up, postgresql, valkey, stack)


def _decide(place: Place, count: int) -> None:
    """Keep so many decided comments, each of a sender of its own."""
    client = Client(place.up["url"], place.up["site_key"])
    _, accepted, _ = client.call("POST", "/v1/comments?wait=10", {"text": "Thank you, Ada."})
    path = f"/v1/comments/{accepted['id']}/decision"
    client.call("POST", path, {"ruling": "approve", "decided_by": "jo"})
    began = time.monotonic()
    own = {"id", "comment_id", "fingerprint", "content_key"}
    with psycopg.connect(place.postgresql.url, autocommit=True) as connection:
        for table in ("comments", "verdicts", "decisions"):
            key = "id" if table == "comments" else "comment_id"
            found = connection.execute(
                "SELECT column_name FROM information_schema.columns"
                " WHERE table_name = %s AND column_name <> 'seq'",
                (table,),
            )
            values = {}
            for (name,) in found:
                is_own = name in own or name.endswith("_key")
                values[name] = f"{name} || '-' || n" if is_own else name
                if name.endswith("_digest"):
                    values[name] = "NULL"
            copies = _COPIES.format(
                table=table,
                columns=", ".join(values),
                values=", ".join(values.values()),
                count=count,
                key=key,
                id=accepted["id"],
            )
            connection.execute(copies)
    print(f"{count} decided comments in {time.monotonic() - began:.0f} s")


async def _observe(
    name: str, place: Place, requests: Iterator[bytes], rate: float, seconds: float
) -> None:
    """Let the event happen under load; print verdicts by windows, in seconds since its end."""
    began = time.monotonic()
    event = asyncio.get_running_loop().run_in_executor(_EVENTS_THREAD, EVENTS[name], place)
    ended: list[float] = []
    event.add_done_callback(lambda _: ended.append(time.monotonic()))
    windows, loads = [], []
    while not ended or time.monotonic() < ended[0] + seconds:
        figures = Figures()
        windows.append((time.monotonic(), figures))
        load = offer(
            place.up["url"],
            requests,
            rate=rate,
            seconds=_WINDOW_SECONDS,
            repeats=4,
            figures=figures,
        )
        loads.append(asyncio.create_task(load))
        await asyncio.sleep(_WINDOW_SECONDS)
    await asyncio.gather(event, *loads)
    print(f"{name}: {ended[0] - began:.0f} s")
    for at, figures in windows:
        took = [waited for _, waited in figures.verdicts]
        in_time = sum(waited <= _PROMISE_SECONDS for waited in took) / _WINDOW_SECONDS
        wrong = dict(figures.wrong)
        print(f"  {at - ended[0]:4.0f} s: {in_time:5.1f}/s in time, p99 {p99(took):.2f} s {wrong}")
    sys.stdout.flush()


def _hang(server: Server) -> None:
    pids = family(server.process.pid)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(_AWAY_SECONDS)
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


def _take_connections(place: Place) -> None:
    """Hold all connections that PostgreSQL gives, those of the service's that end too."""
    held = []
    ends = time.monotonic() + _HELD_SECONDS
    while time.monotonic() < ends:
        try:
            held.append(psycopg.connect(place.postgresql.url))
        except psycopg.OperationalError:
            time.sleep(0.1)
    for connection in held:
        connection.close()


def _cut_connections(place: Place) -> None:
    """End all of the service's connections at once, as PostgreSQL's failover does."""
    with psycopg.connect(place.postgresql.url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )


def _fail_over(place: Place) -> None:
    """Replace Valkey by its replica, at the same address, after some seconds without any."""
    folder = Path(
        place.stack.enter_context(tempfile.TemporaryDirectory(prefix="slopsieve-replica-"))
    )
    address = urlsplit(place.valkey.url)
    (folder / "password").write_text(address.password or "")
    with (
        running_valkey(folder, port=free_port()) as replica,
        redis.Redis.from_url(replica.url) as client,
    ):
        client.config_set("masterauth", address.password)
        client.replicaof("127.0.0.1", address.port)
        while client.info("replication")["master_link_status"] != "up":
            time.sleep(0.1)
        place.valkey.kill()
        client.replicaof("NO", "ONE")
    place.stack.enter_context(running_valkey(folder, port=address.port))


def _wipe(place: Place) -> None:
    with redis.Redis.from_url(place.valkey.url) as client:
        client.flushall()


def _kill_half(place: Place) -> None:
    os.kill(named(place.up["pid"], "worker")[0], signal.SIGKILL)


def _swap(place: Place) -> None:
    command = [program(), "models", "promote", "copy", "--data-dir", place.up["data_dir"]]
    subprocess.run(command, check=True)


EVENTS: dict[str, Callable[[Place], None]] = {
    "postgresql hangs": lambda place: _hang(place.postgresql),
    "postgresql cuts connections": _cut_connections,
    "postgresql has no connection left": _take_connections,
    "valkey hangs": lambda place: _hang(place.valkey),
    "valkey fails over": _fail_over,
    "valkey wiped": _wipe,
    "half of the workers killed": _kill_half,
    "version swapped": _swap,
}


if __name__ == "__main__":
    main()
