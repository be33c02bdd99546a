"""Floods a running Slopsieve, kills its worker and its Valkey meanwhile, and counts the verdicts.

    slopsieve up --port 0 --data-dir DIR --json > ready.json &
    python -m tests.benchmarks.flood FILE... --ready ready.json --count 10000 --kill

Exits with 1 unless every comment was kept and got exactly one verdict.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import itertools
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BATCH = 500
PATIENCE_SECONDS = 900
TRIES = 60


class Api:
    """The calls of the HTTP API that a flood needs; asks again where a server was away."""

    def __init__(self, url: str, key: str) -> None:
        self._address = urlsplit(url)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.repeated = 0

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer's JSON; give up after a minute of refusals."""
        for _ in range(TRIES):
            connection = http.client.HTTPConnection(
                self._address.hostname or "", self._address.port, timeout=30
            )
            try:
                payload = None if body is None else json.dumps(body)
                connection.request(method, path, payload, self._headers)
                answer = connection.getresponse()
                content = answer.read()
                if answer.status < 300:
                    return json.loads(content)
                if answer.status not in (429, 500, 503):
                    sys.exit(f"{method} {path} answered {answer.status}: {content[:500]!r}")
                time.sleep(float(answer.headers.get("Retry-After", 1)))
            except (OSError, http.client.HTTPException):
                time.sleep(1)
            finally:
                connection.close()
            self.repeated += 1
        sys.exit(f"{method} {path} was refused {TRIES} times")


def main() -> None:
    """Run the flood and print what became of it."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("files", nargs="+", type=Path, help="JSONL, or JSONL.gz")
    arguments.add_argument("--ready", type=Path, help="what `slopsieve up --json` printed")
    arguments.add_argument("--url")
    arguments.add_argument("--key", help="a site's key")
    arguments.add_argument("--pid", type=int, help="the supervisor's process id, for --kill")
    arguments.add_argument("--count", type=int, default=10_000)
    arguments.add_argument(
        "--kill", action="store_true", help="SIGKILL a worker, then restart Valkey, half-way"
    )
    given = arguments.parse_args()
    ready = json.loads(given.ready.read_text()) if given.ready else {}
    api = Api(given.url or ready["url"], given.key or ready["site_key"])
    supervisor = given.pid or ready.get("pid")

    rows = list(itertools.islice(read_rows(given.files), given.count))
    began = time.monotonic()
    kept: list[str] = []
    chaos = threading.Thread(target=kill_midway, args=(api, supervisor, kept, len(rows)))
    if given.kill:
        chaos.start()
    post_all(api, rows, kept)
    posted = time.monotonic() - began
    wait_until_judged(api)
    seconds = time.monotonic() - began
    if given.kill:
        chaos.join()
    report(api, kept, rows, posted=posted, seconds=seconds)


def read_rows(files: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield what the API takes of each labelled row."""
    for number, row in enumerate(read_lines(files)):
        title, excerpt = row.get("post_title"), row.get("post_excerpt")
        yield {
            "text": row["text"],
            "site_comment_id": f"{number}-{row['id']}",
            "post": {"title": title and title[:500], "excerpt": excerpt},
            "author": {"url": row.get("author_url") or row.get("author_url_domain")},
        }


def post_all(api: Api, rows: list[dict[str, Any]], kept: list[str]) -> None:
    """Post every row and append the ids under which they are kept."""
    for start in range(0, len(rows), BATCH):
        answer = api.call("POST", "/v1/comments/batch", {"comments": rows[start : start + BATCH]})
        for result in answer["results"]:
            if "id" not in result or result["id"] is None:
                sys.exit(f"a comment was refused: {result}")
            kept.append(result["id"])
        print(f"posted {len(kept)} of {len(rows)}", file=sys.stderr)


def pending(api: Api) -> bool:
    """Return True if any comment still waits for its verdict."""
    return bool(api.call("GET", "/v1/comments?state=pending&limit=1")["comments"])


def listed(api: Api) -> Iterator[dict[str, Any]]:
    """Yield every comment of the site with its verdict."""
    path: str | None = "/v1/comments?limit=200"
    while path:
        page = api.call("GET", path)
        yield from page["comments"]
        path = page["links"]["next"]


def wait_until_judged(api: Api) -> None:
    """Return once nothing waits any more."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while pending(api):
        if time.monotonic() > deadline:
            sys.exit(f"not everything was judged within {PATIENCE_SECONDS} s")
        time.sleep(0.2)


def kill_midway(api: Api, supervisor: int, kept: list[str], count: int) -> None:
    """Kill a worker once about a quarter is judged, end Valkey once about half is."""
    wait_for_verdict(api, kept, count // 4)
    stop_child(supervisor, "service.processes.worker", signal.SIGKILL)
    wait_for_verdict(api, kept, count // 2)
    stop_child(supervisor, "valkey-server", signal.SIGTERM)


def wait_for_verdict(api: Api, kept: list[str], number: int) -> None:
    """Return once the comment posted as this number is kept and judged; they go in order."""
    while len(kept) <= number or not api.call("GET", f"/v1/comments/{kept[number]}")["verdict"]:
        time.sleep(0.02)


def stop_child(supervisor: int, name: str, how: signal.Signals) -> None:
    """Send a signal to the supervisor's first child whose command holds `name`."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if parent == supervisor and name in command:
            os.kill(int(folder.name), how)
            print(f"sent {how.name} to {name} ({folder.name})", file=sys.stderr)
            return
    sys.exit(f"process {supervisor} has no child {name}")


def report(
    api: Api, kept: list[str], rows: list[dict[str, Any]], *, posted: float, seconds: float
) -> None:
    """Print the numbers; exit with 1 unless each comment has exactly one verdict."""
    seen = list(listed(api))
    ids = Counter(comment["id"] for comment in seen)
    mine = set(kept)
    verdicts = [c["verdict"] for c in seen if c["verdict"] and c["id"] in mine]
    twice = sum(1 for times in (*Counter(kept).values(), *ids.values()) if times > 1)
    print(f"comments   {len(rows)}")
    print(f"kept       {len(mine)}")
    print(f"verdicts   {len(verdicts)}")
    print(f"twice      {twice}")
    print(f"degraded   {sum(v['degraded'] for v in verdicts)}")
    print(f"outcomes   {dict(Counter(v['outcome'] for v in verdicts))}")
    print(f"repeated   {api.repeated} requests")
    print(f"posted in  {posted:.1f} s")
    print(f"judged in  {seconds:.1f} s, {len(rows) / seconds:.0f} comments a second")
    sys.exit(0 if len(rows) == len(mine) == len(verdicts) and not twice else 1)


def read_lines(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield the rows of all files, packed or not."""
    for path in files:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for line in lines:
                yield json.loads(line)


if __name__ == "__main__":
    main()
