"""Compares the ways to score comments side by side: speed, latency, memory, start, disk.

    python -m tests.benchmarks.bench_scoring [--version FOLDER] [--data FILE] [--comments N]

Every engine is a process of its own, and they take turns: block by block, in an order that turns
with each repeat, so that whatever else the machine does falls on all of them. Two mixes are read:
a seeded sample of comments with their titles, and the same with 30 % near-copies, which are copies
of an earlier comment of the mix with other case, spacing, invisible characters or another path in
their link, and otherwise unchanged (`comment_mix.with_near_copies` has it precisely). Before each
pass over a mix the classifier's memory of windows is emptied, so that it can only remember what
the same pass has shown it.

- *comments/s* is the median of the repeats, with the lowest and the highest behind it.
- *p50* and *p95* are latencies in ms of one comment; in a batch it waits for its whole call. The
  torch rows sort 256 comments by length and cut their batches from those: a call is all 256.
- *x row 1* divides by what the newcomer's way does with the same mix, one by one.
- *cold start* is the median time from starting the process to its first verdict.
- *peak memory* is the most that the process ever held, with everything measured here.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.benchmarks.comment_mix import Record, sample_records, with_near_copies
from tests.benchmarks.install_size import folder_bytes, installed_bytes, locked_packages
from tests.benchmarks.judging_model import current_folder

_ROOT = Path(__file__).resolve().parents[2]
_SIZES = (1, 32, 64)
# One call of the torch rows; the engines take turns after each.
_BLOCK = 256
_NEWCOMER = "pipeline"
_ENGINES: Mapping[str, str] = {
    _NEWCOMER: "1 transformers pipeline, fp32, six layers",
    "torch": "2 torch fp32, batches of like length, six layers",
    "torch-layers": "2b the same with as many layers as the shipped network",
    "engine": "3 shipped engine: tokenising and network, no memory",
    "classifier": "4 shipped classifier as it serves",
    "judgement": "5 whole judgement, one process",
}
_MIB = 2**20


class Worker:
    """One engine's process; see `scoring_worker` for what it is told."""

    def __init__(self, engine: str, version: Path, layers: int) -> None:
        """Start it and wait until it is loaded, or has said in `missing` what it lacks."""
        arguments = [engine, str(version), "--layers", str(layers)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.scoring_worker", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=_ROOT,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
            encoding="utf-8",
        )
        self.missing: str | None = self._answer().get("missing")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, do: str, **what: object) -> dict[str, Any]:
        """Return the answer to one command."""
        assert self._process.stdin is not None
        # A process that is gone is noticed where its answer is missing.
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{json.dumps({'do': do, **what})}\n")
            self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process and wait for its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("a process of the benchmark ended early; its error is above")
        answer: dict[str, Any] = json.loads(line)
        return answer


@dataclass(kw_only=True)
class Passes:
    """What was measured of one engine on one mix with one size of batch, a number a repeat."""

    rates: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p95: list[float] = field(default_factory=list)

    def add(self, calls: Sequence[tuple[int, float]]) -> None:
        """Take a pass over the whole mix: comments and seconds of each call."""
        waits = sorted(seconds for count, seconds in calls for _ in range(count))
        self.rates.append(len(waits) / sum(seconds for _, seconds in calls))
        self.p50.append(waits[len(waits) // 2])
        self.p95.append(waits[min(len(waits) - 1, int(0.95 * len(waits)))])


Measured = dict[tuple[str, str, int], Passes]


def start_all(
    version: Path, layers: int, first: Record, starts: int
) -> tuple[dict[str, Worker], dict[str, float]]:
    """Start every engine `starts` times in turn; return those of the last round and the medians.

    The engines that lack something are named on the screen and left out.
    """
    engines = [name for name in _ENGINES if name != "torch-layers" or layers]
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    running: dict[str, Worker] = {}
    for turn in range(starts):
        for name in engines:
            started = time.perf_counter()
            worker = Worker(name, version, layers)
            if worker.missing is None:
                worker.ask("score", records=[first], size=1)
                seconds[name].append(time.perf_counter() - started)
            if worker.missing is None and turn == starts - 1:
                running[name] = worker
                continue
            if turn == 0 and worker.missing is not None:
                print(f"not measured: {_ENGINES[name]}: {worker.missing}")
            worker.close()
    return running, {name: statistics.median(seconds[name]) for name in running}


def measure_pass(
    workers: Mapping[str, Worker], records: Sequence[Record], size: int, turn: int
) -> dict[str, list[tuple[int, float]]]:
    """Let all engines read a mix once, in turns; return each one's calls."""
    names = [name for name in workers if size == 1 or name != _NEWCOMER]
    calls: dict[str, list[tuple[int, float]]] = {name: [] for name in names}
    for name in names:
        workers[name].ask("forget")
    for number, start in enumerate(range(0, len(records), _BLOCK)):
        at = (turn + number) % len(names)
        for name in [*names[at:], *names[:at]]:
            block = records[start : start + _BLOCK]
            calls[name] += workers[name].ask("score", records=block, size=size)["calls"]
    return calls


def measure(
    workers: Mapping[str, Worker], mixes: Mapping[str, Sequence[Record]], repeats: int
) -> Measured:
    """Return all passes. A first one is not counted: it compiles what each length needs."""
    measured: Measured = {}
    print("warming up, not counted", file=sys.stderr, flush=True)
    measure_pass(workers, next(iter(mixes.values())), 1, 0)
    for turn in range(repeats):
        for mix, records in mixes.items():
            for size in _SIZES:
                print(f"repeat {turn + 1}: {mix}, batch {size}", file=sys.stderr, flush=True)
                for name, calls in measure_pass(workers, records, size, turn).items():
                    measured.setdefault((name, mix, size), Passes()).add(calls)
    return measured


def print_table(measured: Measured, peaks: Mapping[str, float], colds: Mapping[str, float]) -> None:
    """Print a row for each engine, mix and size; what belongs to the process, once an engine."""
    print(
        "\n| engine | mix | batch | comments/s (lowest to highest) | p50 ms | p95 ms | x row 1 "
        "| peak memory MiB | cold start s |\n|---|---|---|---|---|---|---|---|---|"
    )
    shown = set()
    for name, mix, size in sorted(measured, key=lambda key: list(_ENGINES).index(key[0])):
        passes = measured[name, mix, size]
        rate = statistics.median(passes.rates)
        base = measured.get((_NEWCOMER, mix, 1))
        ratio = f"{rate / statistics.median(base.rates):.1f}" if base else ""
        own = ("", "") if name in shown else (f"{peaks[name]:.0f}", f"{colds[name]:.2f}")
        shown.add(name)
        print(
            f"| {_ENGINES[name]} | {mix} | {size} | {rate:.0f} ({min(passes.rates):.0f} to "
            f"{max(passes.rates):.0f}) | {1e3 * statistics.median(passes.p50):.2f} | "
            f"{1e3 * statistics.median(passes.p95):.2f} | {ratio} | {own[0]} | {own[1]} |"
        )


def print_disk(version: Path) -> None:
    """Return the disk space of serving, and that of torch and transformers."""
    serving = installed_bytes(locked_packages(_ROOT / "requirements.lock"))
    largest = sorted(serving, key=lambda name: -serving[name])[:5]
    print(
        f"\nInstalled: {sum(serving.values()) / _MIB:.0f} MiB in the {len(serving)} packages of "
        "requirements.lock, most in "
        + ", ".join(f"{name} {serving[name] / _MIB:.0f}" for name in largest)
    )
    newcomer = installed_bytes(["torch", "transformers"])
    if newcomer:
        each = ", ".join(f"{name} {size / _MIB:.0f} MiB" for name, size in newcomer.items())
        print(f"Against {each}, without what these require in turn.")
    print(f"The version's folder: {folder_bytes(version) / _MIB:.1f} MiB.")


def count_layers(version: Path) -> int:
    """Return how many layers the version's network has, 0 if it has none."""
    network = version / "network.xml"
    return network.read_text().count('type="ScaledDotProductAttention"') if network.is_file() else 0


def main() -> None:
    """Measure everything that is installed here, and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--version", type=Path, help="a version's folder; the current by default")
    parser.add_argument("--data", type=Path, help="a .jsonl or .jsonl.gz instead of data/")
    parser.add_argument("--comments", type=int, default=1_024)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--starts", type=int, default=3)
    args = parser.parse_args()
    version = (args.version or current_folder()).resolve()
    records = sample_records(args.comments, data=args.data)
    mixes = {"sample": records, "with near-copies": with_near_copies(records)}
    print(
        f"version {version.name}, {len(records)} comments, {args.repeats} repeats, "
        f"{len(os.sched_getaffinity(0))} cores, load before {os.getloadavg()[0]:.1f}"
    )

    workers, colds = start_all(version, count_layers(version), records[0], args.starts)
    try:
        measured = measure(workers, mixes, args.repeats)
        peaks = {name: worker.ask("peak")["mib"] for name, worker in workers.items()}
        print_table(measured, peaks, colds)
    finally:
        for worker in workers.values():
            worker.close()
    print_disk(version)


if __name__ == "__main__":
    main()
