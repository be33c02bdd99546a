"""Measures the stages of a comment one after the other, and whose processor time each takes.

`python -m tests.benchmarks.bench_stages --workers 2 --postgresql`. The workers are stopped while
comments come in, and judge them afterwards, so that neither stage waits for the other.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from service.stores.sql import create_engine
from tests.benchmarks.faults import texts, wait_until_quiet
from tests.benchmarks.own_service import cpu_seconds, data_dir, family, name_of, running
from tests.servers import running_postgresql

# The API's threads work on so many requests at once.
_CLIENTS = 8
_JUDGED_SECONDS = 600.0
# Comments that warm the model and the stores up.
_WARM = 200


def main() -> None:
    """Print a row for each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comments", type=int, default=3_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--postgresql", action="store_true", help="in place of SQLite")
    given = parser.parse_args()
    rows = texts()
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="slopsieve-stages-"))
        settings = {"SLOPSIEVE_REQUESTS_PER_MINUTE": "1000000"}
        roots = []
        if given.postgresql:
            server = stack.enter_context(running_postgresql(durable=True))
            settings["SLOPSIEVE_DATABASE_URL"] = server.url
            roots.append(server.process.pid)
        options = ("--workers", str(given.workers))
        up = stack.enter_context(running(folder, *options, **settings))
        url = settings.get("SLOPSIEVE_DATABASE_URL", f"sqlite:///{data_dir(folder)}/slopsieve.db")
        database = create_engine(url)
        roots.append(up["pid"])
        _post(up, rows, range(_WARM))
        wait_until_quiet(database, seconds=_JUDGED_SECONDS)
        workers = [pid for pid in family(up["pid"]) if name_of(pid) == "worker"]
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        with _stage("taken in", given.comments, roots):
            _post(up, rows, range(_WARM, _WARM + given.comments))
        with _stage("judged", given.comments, roots):
            for pid in workers:
                os.kill(pid, signal.SIGCONT)
            wait_until_quiet(database, seconds=_JUDGED_SECONDS)
        database.dispose()


@contextlib.contextmanager
def _stage(name: str, count: int, roots: Sequence[int]) -> Iterator[None]:
    """Print how many comments a second pass, and the processor time of each process for one."""
    before = {pid: cpu_seconds(pid) for root in roots for pid in family(root)}
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    spent: Counter[str] = Counter()
    for pid in (pid for root in roots for pid in family(root)):
        spent[name_of(pid)] += cpu_seconds(pid) - before.get(pid, 0.0)
    of_one = ", ".join(f"{who} {1000 * used / count:.2f}" for who, used in spent.most_common())
    print(f"{name}: {count / took:.0f} comments/s; ms of processor time for one: {of_one}")


def _post(up: dict[str, Any], rows: Sequence[dict[str, Any]], numbers: range) -> None:
    """Post comments without waiting for verdicts; each ends in a number of its own."""
    following = iter(numbers)
    threads = [
        threading.Thread(target=_client, args=(up, rows, following)) for _ in range(_CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _client(up: dict[str, Any], rows: Sequence[dict[str, Any]], numbers: Iterator[int]) -> None:
    address = urlsplit(up["url"])
    headers = {"Authorization": f"Bearer {up['site_key']}", "Content-Type": "application/json"}
    with contextlib.closing(
        http.client.HTTPConnection(address.hostname or "", address.port)
    ) as connection:
        for number in numbers:
            row = rows[number % len(rows)]
            body = {
                "text": f"{row['text']} {number}",
                "author": {"name": row.get("author_name") or "Jo"},
                "address": f"198.51.{number // 250 % 250}.{number % 250}",
            }
            connection.request("POST", "/v1/comments", json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 202:
                msg = f"comment {number} got {answer.status}"
                raise SystemExit(msg)


if __name__ == "__main__":
    main()
