"""Measures how long verdicts take with and without a retraining on the same machine.

    python -m tests.benchmarks.retrain_beside --rate 20 --seconds 60 --rounds 2

Comments come over HTTP at a steady rate and wait for their verdicts. Rounds without and with a
retraining follow each other in turn, so that other work on the machine meets both. The retraining
is `python -m training.retrain`, started as `slopsieve retrain` starts it, on authored comments as
if people had decided them; `--stand-in` takes a program that computes in its place as hard as it
may, for as long as it is let, where the real one would end too soon.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.domain.errors import TrainingStoppedError
from service.domain.retraining import RetrainingOptions, TrainingProgress
from service.training_runs.training_program import PROGRAM, Bounds, TrainingProcesses
from tests.benchmarks.own_service import running
from tests.benchmarks.steady_comments import Seen, offering

_DATA = Path(__file__).resolve().parents[2] / "data"
_RUN = "bench"
_HARDEST = "fine-tune"
_WAIT_SECONDS = 300.0
# Multiplies matrices, as fine-tuning does, with all threads that it is given.
_STAND_IN = """
import numpy as np
a = np.random.default_rng(1).standard_normal((768, 768), dtype=np.float32)
while True:
    a = np.tanh(a @ a)
"""


def decisions(limit: int) -> Iterator[Mapping[str, Any]]:
    """Yield decided comments: authored ones with their words in another order.

    As they are they would teach nothing: they are in the base corpora.
    """
    draw = random.Random(7)
    rows = [
        json.loads(line)
        for path in sorted(_DATA.glob("authored-*.jsonl"))
        for line in path.open(encoding="utf-8")
    ]
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for row in [one for one in rows if one.get("label") in {"spam", "ham"}][:limit]:
        ruling = {
            "reviewer": "0" * 32,
            "ruling": "reject" if row["label"] == "spam" else "approve",
            "made_at": at,
            "via": "review",
            "undone": False,
            "is_owner": True,
        }
        words = row["text"].split()
        draw.shuffle(words)
        yield row | {
            "id": f"bench-{row['id']}",
            "text": " ".join(words),
            "promo_spans": None,
            "source": "site:bench",
            "rulings": [ruling],
            "verdict": None,
            "audit": False,
            "weight": 1.0,
        }


@contextmanager
def training(runs: TrainingProcesses) -> Iterator[list[TrainingProgress]]:
    """Train while the block runs; give how far it came, which grows."""
    told: list[TrainingProgress] = []
    problems: list[str] = []
    stop = threading.Event()

    def train() -> None:
        try:
            runs.train(
                _RUN,
                RetrainingOptions(),
                dry_run=False,
                told=told.append,
                goes_on=lambda: not stop.is_set(),
            )
            problems.append("it ended before the round did")
        except TrainingStoppedError:
            pass
        except Exception as error:  # noqa: BLE001  # said below
            problems.append(str(error))

    thread = threading.Thread(target=train)
    thread.start()
    try:
        yield told
    finally:
        stop.set()
        thread.join()
    if problems:
        print(f"  beware: {problems[0]}", file=sys.stderr)


def _wait_for(step: str, told: list[TrainingProgress], *, seconds: float) -> None:
    """Wait until the training is at its hardest step: what comes before is reading."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (told and told[-1].step == step):
        time.sleep(0.5)


def offer(up: Mapping[str, Any], rate: float, seconds: float) -> Seen:
    """Offer comments and return what came back."""
    load = {"rate": rate, "seconds": seconds, "check": lambda _: None}
    with offering(up["url"], up["site_key"], **load) as seen:
        pass
    return seen


def percentile(values: list[float], share: float) -> float:
    """Return the value that this share lies below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main() -> None:
    """Run the rounds and print both side by side."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=20.0, help="comments a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of a round")
    parser.add_argument("--rounds", type=int, default=2, help="rounds of each kind")
    parser.add_argument("--threads", type=int, default=1, help="threads of the retraining")
    parser.add_argument("--memory-mb", type=int, default=4_000)
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--stand-in", action="store_true", help="compute, do not train")
    given = parser.parse_args()
    seen: dict[str, list[Seen]] = {"without": [], "with": []}
    steps = set()
    with tempfile.TemporaryDirectory(prefix="slopsieve-beside-") as folder:
        program = (sys.executable, "-c", _STAND_IN) if given.stand_in else PROGRAM
        runs = TrainingProcesses(
            Path(folder, "retraining"),
            Path(folder, "candidates"),
            Bounds(threads=given.threads, memory_mb=given.memory_mb),
            program=program,
            packages=(),
        )
        runs.keep_decisions(_RUN, decisions(given.decisions))
        with running(folder) as up:
            offer(up, given.rate, 3.0)
            for _ in range(given.rounds):
                seen["without"].append(offer(up, given.rate, given.seconds))
                with training(runs) as told:
                    _wait_for(_HARDEST, told, seconds=3.0 if given.stand_in else _WAIT_SECONDS)
                    told.clear()
                    seen["with"].append(offer(up, given.rate, given.seconds))
                steps |= {progress.step for progress in told if progress.step}
    print(
        f"{given.rate:g} comments a second for {given.seconds:g} s, {given.rounds} rounds of each "
        f"kind in turn, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end"
    )
    if not given.stand_in:
        print(f"steps of the retraining meanwhile: {', '.join(sorted(steps)) or 'none'}")
    print(
        f"{'retraining beside':>18}  {'n':>6}  {'p50 ms':>7}  {'p95 ms':>7}  {'p99 ms':>7}  wrong"
    )
    for kind, rounds in seen.items():
        times = [ms for one in rounds for ms in one.milliseconds]
        wrong = sum((one.wrong for one in rounds), start=type(rounds[0].wrong)())
        shares = (percentile(times, share) for share in (0.5, 0.95, 0.99))
        row = "  ".join(f"{value:7.0f}" for value in shares)
        print(f"{kind:>18}  {len(times):6,}  {row}  {dict(wrong) or 'none'}")


if __name__ == "__main__":
    main()
