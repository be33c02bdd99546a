"""Measures the move from SQLite to PostgreSQL: once straight, once killed midway and resumed.

    python -m tests.benchmarks.move_database --comments 200000

Fills the embedded database as `desk_load` does, starts a PostgreSQL (`fsync` off), and runs the
real `slopsieve move` in a process of its own; the second time into another database, where it is
killed halfway and ended with `--resume`. Ends with 1 unless every table's checksum is equal on all
sides.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psycopg

from service.data_folder import DataFolder
from service.settings import load_settings
from service.stores.migrations import migrate
from service.wiring import open_engine
from tests.benchmarks.desk_load import fill, made_services
from tests.servers import running_postgresql

_MEMBERS_A_CAMPAIGN = 100
_TOOK = re.compile(r"Moved in ([0-9.]+) s, compared in ([0-9.]+) s")
# As the installed command does, whatever folder that lies in.
_COMMAND = "from service.cli import main; main()"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the command: its exit status, its tables by name, its seconds, its memory."""

    status: int
    tables: dict[str, dict[str, object]]
    seconds: float
    moving_seconds: float | None
    comparing_seconds: float | None
    peak_mib: float


def run_move(home: Path, url: str, *, resume: bool = False, kill_after: float | None = None) -> Run:
    """Run `slopsieve move` to its end, or kill it after so many seconds."""
    words = [sys.executable, "-c", _COMMAND, "move", "--json", "--data-dir", str(home)]
    began = time.perf_counter()
    process = subprocess.Popen(
        [*words, "--resume"] if resume else words,
        env={**os.environ, "SLOPSIEVE_MOVE_TO": url},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said: list[str] = []

    def watch() -> None:
        assert process.stderr
        said.extend(process.stderr)

    watcher = threading.Thread(target=watch)
    watcher.start()
    if kill_after is not None:
        time.sleep(kill_after)
        process.send_signal(signal.SIGKILL)
    assert process.stdout
    rows = [json.loads(line) for line in process.stdout]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    watcher.join()
    took = _TOOK.search("".join(said))
    if process.returncode > 0 or (kill_after is None and took is None):
        print("".join(said), file=sys.stderr)
    return Run(
        status=process.returncode,
        tables={row["table"]: row for row in rows},
        seconds=time.perf_counter() - began,
        moving_seconds=float(took[1]) if took else None,
        comparing_seconds=float(took[2]) if took else None,
        peak_mib=used.ru_maxrss / 1024,
    )


def fill_home(home: Path, n_comments: int) -> float:
    """Fill the embedded database of a data folder, and return how many MiB it takes."""
    settings = load_settings(data_dir=home)
    engine = open_engine(settings, DataFolder(home))
    migrate(engine)
    fill(made_services(engine), n_comments, n_comments // _MEMBERS_A_CAMPAIGN)
    engine.dispose()
    return DataFolder(home).database_file.stat().st_size / 2**20


def new_database(url: str, name: str) -> str:
    """Make an empty database on a server, and return its URL."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url.replace("/postgres?", f"/{name}?")


def measure(home: Path, url: str) -> bool:
    """Move twice, print what came of it, and return whether everything is equal everywhere."""
    straight = run_move(home, new_database(url, "straight"))
    target = new_database(url, "killed")
    killed = run_move(home, target, kill_after=straight.seconds / 2)
    resumed = run_move(home, target, resume=True)
    print("| run | ended with | in all | moving | comparing | peak memory |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, run in (("straight", straight), ("killed", killed), ("resumed", resumed)):
        print(
            f"| {name} | {run.status} | {run.seconds:.1f} s | {_seconds(run.moving_seconds)} | "
            f"{_seconds(run.comparing_seconds)} | {run.peak_mib:.0f} MiB |"
        )
    print("\n| table | rows | sha256 | straight | resumed |\n|---|--:|---|---|---|")
    for name, row in straight.tables.items():
        if row["rows"]:
            other = resumed.tables.get(name, {})
            same = "equal" if other == row else "DIFFERS"
            print(f"| {name} | {row['rows']:,} | {row['sha256']} | {row['moved']} | {same} |")
    moved = {str(row["moved"]) for run in (straight, resumed) for row in run.tables.values()}
    statuses = (straight.status, killed.status, resumed.status)
    return (
        moved == {"equal"}
        and resumed.tables == straight.tables
        and statuses == (0, -signal.SIGKILL, 0)
    )


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} s"


def main() -> None:
    """Fill, move, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--comments", type=int, default=200_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_postgresql() as server:
        home = Path(folder)
        began = time.perf_counter()
        size_mib = fill_home(home, given.comments)
        took = time.perf_counter() - began
        print(f"{given.comments:,} comments, {size_mib:.0f} MiB, filled in within {took:.0f} s\n")
        equal = measure(home, server.url)
    print("\nall checksums are equal" if equal else "\nNOT EQUAL")
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()
