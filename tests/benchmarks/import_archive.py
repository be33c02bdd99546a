"""Measures `slopsieve import` of a large archive, the first time and once more, on each database.

    python -m tests.benchmarks.import_archive --comments 50000
    python -m tests.benchmarks.import_archive --against ../other-checkout --rounds 3

The real command in a process of its own, into an empty database, over a Valkey that holds the
queue; nobody judges meanwhile. Every hundredth line is broken. With `--against` the same file is
imported in turns by another checkout of this project. Ends with 1 unless each run kept, refused
and decided what the file says, and the second import of a file changed nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.desk_load import authored_rows
from tests.benchmarks.move_database import new_database
from tests.servers import Server, running_postgresql, running_valkey

_COMMAND = "from service.cli import main; main()"
_HERE = Path(__file__).parents[2]
_BROKEN_EVERY = 100
_SITE = "Radiator blog"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One import: its seconds, its memory at most, what it counted."""

    seconds: float
    peak_mib: float
    counts: dict[str, int]


def write_archive(path: Path, n_comments: int) -> int:
    """Write authored comments with a running number and a ruling; return how many are broken."""
    rows = authored_rows()
    broken = 0
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_comments):
            if number % _BROKEN_EVERY == _BROKEN_EVERY - 1:
                broken += 1
                file.write(json.dumps({"id": str(number), "text": number}) + "\n")
                continue
            given = {
                "id": str(number),
                "text": f"{rows[number % len(rows)]['text']} Number {number}",
                "author_name": f"Mara {number % 500}",
                "author_email": f"mara-{number % 5_000}@mail.example",
                "ip": f"198.51.{number % 100}.{number % 250}",
                "post_url": f"https://blog.example/{number % 900}",
                "date": "2026-01-02T03:04:05Z",
                "label": "spam" if number % 3 == 0 else "ham",
            }
            file.write(json.dumps(given) + "\n")
    return broken


class Importer:
    """Imports one file by one checkout into databases of their own."""

    def __init__(self, checkout: Path, archive: Path, postgresql: Server, valkey: Server) -> None:
        self.checkout = checkout
        self._archive = archive
        self._postgresql = postgresql
        self._valkey = valkey
        self._made = 0

    def import_twice(self, kind: str, words: Sequence[str]) -> tuple[Run, Run]:
        """Import into an empty database, and once more; return both runs."""
        self._made += 1
        with tempfile.TemporaryDirectory() as folder:
            env = {
                **os.environ,
                "PYTHONPATH": str(self.checkout),
                "SLOPSIEVE_DATA_DIR": folder,
                "SLOPSIEVE_VALKEY_URL": self._valkey.url,
            }
            if kind == "postgresql":
                name = f"import_{abs(hash(self.checkout))}_{self._made}"
                env["SLOPSIEVE_DATABASE_URL"] = new_database(self._postgresql.url, name)
            self._run(env, "migrate")
            self._run(env, "sites", "add", _SITE)
            told = ("import", str(self._archive), "--format", "jsonl", "--site", _SITE, "--json")
            first, again = (self._run(env, *told, *words) for _ in range(2))
        return first, again

    def _run(self, env: dict[str, str], *words: str) -> Run:
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, *words],
            env=env,
            cwd=self.checkout,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout
        said = process.stdout.read()
        _, _, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        counts = json.loads(said) if words[0] == "import" else {}
        return Run(seconds=seconds, peak_mib=used.ru_maxrss / 1024, counts=counts)


def is_right(first: Run, again: Run, n_comments: int, broken: int, *, decided: bool) -> bool:
    """Say whether both runs did what they promise."""
    whole = n_comments - broken
    fresh = {"new": whole, "repeats": 0, "decisions": whole if decided else 0}
    known = {"new": 0, "repeats": whole, "decisions": 0}
    common = {"conflicts": 0, "left_out": 0, "broken": broken}
    return first.counts == fresh | common and again.counts == known | common


def main() -> None:
    """Import, count, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--comments", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    parser.add_argument("--with-decisions", action="store_true")
    parser.add_argument("--against", type=Path, help="another checkout, to take turns with")
    given = parser.parse_args()
    words = ["--with-decisions"] if given.with_decisions else []
    all_right = True
    with (
        tempfile.TemporaryDirectory() as folder,
        running_postgresql() as postgresql,
        running_valkey() as valkey,
    ):
        archive = Path(folder) / "archive.jsonl"
        broken = write_archive(archive, given.comments)
        checkouts = [_HERE, *([given.against.resolve()] if given.against else [])]
        importers = [Importer(one, archive, postgresql, valkey) for one in checkouts]
        print("| database | checkout | n | first import | comments a second | again | memory |")
        print("|---|---|--:|--:|--:|--:|--:|", flush=True)
        for kind in given.database or ["sqlite", "postgresql"]:
            done: dict[int, list[tuple[Run, Run]]] = {place: [] for place in range(len(importers))}
            for _ in range(given.rounds):
                for place, importer in enumerate(importers):
                    first, again = importer.import_twice(kind, words)
                    done[place].append((first, again))
                    right = is_right(
                        first, again, given.comments, broken, decided=given.with_decisions
                    )
                    if not right:
                        print(f"WRONG: {first.counts} {again.counts}", file=sys.stderr)
                        all_right = False
            for place, runs in done.items():
                took = statistics.median(first.seconds for first, _ in runs)
                once_more = statistics.median(again.seconds for _, again in runs)
                peak = max(first.peak_mib for first, _ in runs)
                name = "the other" if place else "this"
                print(
                    f"| {kind} | {name} | {len(runs)} | {took:.1f} s | "
                    f"{given.comments / took:,.0f} | {once_more:.1f} s | {peak:.0f} MiB |",
                    flush=True,
                )
    sys.exit(0 if all_right else 1)


if __name__ == "__main__":
    main()
