"""Measures the stages of a comment one after the other, and whose processor time each takes.

`python -m tests.benchmarks.bench_stages --workers 2 --postgresql`. The workers are stopped while
comments come in, and judge them afterwards, so that neither stage waits for the other.
"""

import argparse
import contextlib
import http.client
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

from service.stores.sql import create_engine
from tests.benchmarks.faults import wait_until_quiet
from tests.benchmarks.own_service import authored, cpu_seconds, json_comment, named, running
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
    rows = authored()
    with contextlib.ExitStack() as stack:
        settings = {"SLOPSIEVE_REQUESTS_PER_MINUTE": "1000000"}
        roots = []
        if given.postgresql:
            server = stack.enter_context(running_postgresql(durable=True))
            settings["SLOPSIEVE_DATABASE_URL"] = server.url
            roots.append(server.process.pid)
        up = stack.enter_context(running("--workers", str(given.workers), **settings))
        url = settings.get("SLOPSIEVE_DATABASE_URL", f"sqlite:///{up['data_dir']}/slopsieve.db")
        database = create_engine(url)
        roots.append(up["pid"])
        _post(up, rows, range(_WARM))
        wait_until_quiet(database, seconds=_JUDGED_SECONDS)
        workers = named(up["pid"], "worker")
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
    before = cpu_seconds(*roots)
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    spent: Counter[str] = Counter()
    for (pid, who), used in cpu_seconds(*roots).items():
        spent[who] += used - before[pid, who]
    of_one = ", ".join(f"{who} {1000 * used / count:.2f}" for who, used in spent.most_common())
    print(f"{name}: {count / took:.0f} comments/s; ms of processor time for one: {of_one}")


def _post(up: dict[str, Any], rows: Sequence[dict[str, Any]], numbers: range) -> None:
    """Post comments without waiting for verdicts."""
    address = urlsplit(up["url"])
    headers = {"Authorization": f"Bearer {up['site_key']}", "Content-Type": "application/json"}

    def client(own_numbers: range) -> None:
        connection = http.client.HTTPConnection(address.hostname or "", address.port)
        with contextlib.closing(connection):
            for number in own_numbers:
                body = json.dumps(json_comment(rows, number))
                connection.request("POST", "/v1/comments", body, headers)
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 202, f"comment {number} got {answer.status}"

    with ThreadPoolExecutor(_CLIENTS) as pool:
        list(pool.map(client, [numbers[n::_CLIENTS] for n in range(_CLIENTS)]))


if __name__ == "__main__":
    main()
