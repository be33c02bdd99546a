"""Measures how many comments a second workers judge while a long line waits in one lane.

    python -m tests.benchmarks.long_queue --lane interactive --against ../other-checkout --rounds 2

Real workers, the shipped version, SQLite in a scratch folder; nobody sends comments meanwhile. The
rate is counted from the first verdicts to the end of `--seconds`, so that neither starting nor an
empty line is in it. With `--busy` so many other processes compute all the while. With `--against`
another checkout of this project takes turns; compare rates of one run only.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from service.domain.comment import Lane
from tests.servers import running_valkey

_HERE = Path(__file__).parents[2]
_START_SECONDS = 300.0
_STOP_SECONDS = 60.0
# Filled by the checkout itself: its tables may be others.
_FILL = """
import sys
from service.domain.comment import CommentId, Lane
from service.moderation.admin.sites import add_site
from service.moderation.intake.submit import submit_comments
from service.ports.comments import NewComment
from service.settings import load_settings
from service.stores.migrations import migrate
from service.wiring import wire
from tests.benchmarks.desk_load import authored_rows
from tests.factories import make_comment

wired = wire(load_settings())
migrate(wired.engine)
services, rows = wired.services, authored_rows()
site, _ = add_site("Radiator blog", services.common, actor="benchmark")
texts = [f"{rows[n % len(rows)]['text']} Number {n}" for n in range(int(sys.argv[2]))]
for start in range(0, len(texts), 500):
    submit_comments(
        [
            NewComment(
                comment=make_comment(
                    text,
                    id=CommentId(services.common.new_id("com")),
                    site_id=site.id,
                    received_at=services.common.clock(),
                ),
                lane=Lane(sys.argv[1]),
            )
            for text in texts[start : start + 500]
        ],
        services.intake,
        services.common,
    )
wired.close()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Comments judged a second, and how many a batch held."""

    rate: float
    batch: float


def measure(
    checkout: Path, lane: Lane, *, comments: int, workers: int, seconds: float, busy: int
) -> Run:
    """Fill a lane and let workers of a checkout judge it for so many seconds."""
    with tempfile.TemporaryDirectory() as folder, running_valkey() as valkey:
        env = {
            **os.environ,
            "PYTHONPATH": str(checkout),
            "SLOPSIEVE_DATA_DIR": folder,
            "SLOPSIEVE_VALKEY_URL": valkey.url,
        }
        fill = [sys.executable, "-c", _FILL, lane.value, str(comments)]
        subprocess.run(fill, env=env, cwd=checkout, check=True)
        log = Path(folder, "workers.log")
        [database] = Path(folder).glob("*.db")
        with _computing(busy), _working(checkout, env, log, workers):
            deadline = time.monotonic() + _START_SECONDS
            while not (first := _judged(database)):
                if time.monotonic() > deadline:
                    sys.exit(f"nothing was judged:\n{log.read_text()}")
                time.sleep(0.05)
            began = time.monotonic()
            time.sleep(seconds)
            rate = (_judged(database) - first) / (time.monotonic() - began)
        sizes = [int(size) for size in re.findall(r"\bbatch=(\d+)", log.read_text())]
    return Run(rate=rate, batch=statistics.fmean(sizes))


def _judged(database: Path) -> int:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        number: int = connection.execute("SELECT count(*) FROM verdicts").fetchone()[0]
    return number


@contextmanager
def _working(checkout: Path, env: dict[str, str], log: Path, workers: int) -> Iterator[None]:
    with log.open("ab") as output:
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "service.processes.worker"],
                env=env,
                cwd=checkout,
                stderr=output,
            )
            for _ in range(workers)
        ]
    try:
        yield
    finally:
        for worker in started:
            worker.terminate()
        for worker in started:
            worker.wait(_STOP_SECONDS)


@contextmanager
def _computing(processes: int) -> Iterator[None]:
    started = [multiprocessing.Process(target=_compute, daemon=True) for _ in range(processes)]
    for process in started:
        process.start()
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.join()


def _compute() -> None:
    while True:
        sum(range(10_000))


def main() -> None:
    """Take turns and print a row a checkout."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lane", choices=[lane.value for lane in Lane], default="interactive")
    parser.add_argument("--comments", type=int, default=6_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--busy", type=int, default=0, help="processes that compute beside it")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--against", type=Path, help="another checkout, to take turns with")
    given = parser.parse_args()
    checkouts = {"this": _HERE} | ({"other": given.against.resolve()} if given.against else {})
    runs: dict[str, list[Run]] = {name: [] for name in checkouts}
    print("| lane | workers | checkout | n | comments a second | a batch | load |")
    print("|---|--:|---|--:|--:|--:|--:|", flush=True)
    for _ in range(given.rounds):
        for name, checkout in checkouts.items():
            runs[name].append(
                measure(
                    checkout,
                    Lane(given.lane),
                    comments=given.comments,
                    workers=given.workers,
                    seconds=given.seconds,
                    busy=given.busy,
                )
            )
            print(f"{name}: {runs[name][-1]}", file=sys.stderr)
    for name, done in runs.items():
        rates = [run.rate for run in done]
        batch = statistics.fmean(run.batch for run in done)
        told = f"{statistics.median(rates):.1f} ({min(rates):.1f} to {max(rates):.1f})"
        load = os.getloadavg()[0]
        print(
            f"| {given.lane} | {given.workers} | {name} | {len(done)} | {told} "
            f"| {batch:.0f} | {load:.0f} |"
        )


if __name__ == "__main__":
    main()
