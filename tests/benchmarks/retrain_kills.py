"""Kills a retraining at random moments and compares its candidate with an undisturbed run's.

    python -m tests.benchmarks.retrain_kills --work FOLDER [--kills 10] [--seed 1] [--threads 2]

Both runs start from the shipped version with the repository's own data and the same 40 decisions.
The moments are drawn from how long the undisturbed run took, so that they fall into every step.
Prints where each kill fell and which of the candidate's files are the same to the bit.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from models.registry import SHIPPED_DIR, promote, read_current_name
from tests.benchmarks.retrain_data import draw, read_rows, write_decisions, write_without
from training.data.dataset import DEFAULT_DATA

# Documents that say when a run was, and the manifest with their checksums.
WITH_TIMES = ("card.json", "card.md", "manifest.json")


def main() -> int:
    """Return 0 if every file that holds no times is the same, else 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    _write_inputs(options.work)
    seconds = _undisturbed(options.work, options.threads)
    print(f"undisturbed: {seconds:.0f} s")
    rng = random.Random(options.seed)  # moments are no secret
    print("| kill | after s | in step | share done |")
    print("| --- | --- | --- | --- |")
    kills, process = 0, _start(options.work, "killed", options.threads)
    while kills < options.kills:
        # A run goes on from where it was, so that the kills together cover about all of it.
        wait = rng.uniform(0.3, 1.7) * (seconds / options.kills)
        try:
            process.wait(timeout=_started(options.work / "killed" / "run") + wait)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            told = json.loads((options.work / "killed" / "run" / "run.json").read_bytes())
            print(
                f"| {kills} | {wait:.1f} | {told['step']} | {told['share_done']:.0%} |", flush=True
            )
            process = _start(options.work, "killed", options.threads)
            continue
        print(f"ended after {kills} kills", flush=True)
        break
    if process.wait():
        return 1
    return _compare(options.work)


def _write_inputs(work: Path) -> None:
    rows = read_rows(DEFAULT_DATA / "authored-t6.jsonl")
    spam = draw([r for r in rows if r["label"] == "spam"], "spam")[:25]
    ham = draw([r for r in rows if r["label"] == "ham"], "ham")[:15]
    write_decisions(draw(spam + ham, "order"), work / "decisions.jsonl")
    write_without([], {row["id"] for row in (*spam, *ham)}, work / "data")
    for name in ("undisturbed", "killed"):
        versions = work / name / "versions"
        versions.mkdir(parents=True)
        current = read_current_name(SHIPPED_DIR)
        (versions / current).symlink_to(SHIPPED_DIR / current)
        promote(versions, current)


def _start(work: Path, name: str, threads: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # our own command
        [
            *(sys.executable, "-m", "training.retrain", "--no-own-data"),
            *("--data", str(work / "data"), "--decisions", str(work / "decisions.jsonl")),
            *("--run", str(work / name / "run"), "--versions", str(work / name / "versions")),
            *("--threads", str(threads)),
        ],
        stderr=subprocess.DEVNULL,
    )


def _undisturbed(work: Path, threads: int) -> float:
    began = time.monotonic()
    if _start(work, "undisturbed", threads).wait():
        raise SystemExit("the undisturbed run failed")
    return time.monotonic() - began


def _started(run: Path) -> float:
    """Wait until the process works on the run, so that no kill falls into Python's own start."""
    before = run / "run.json"
    told = before.read_bytes() if before.exists() else b""
    began = time.monotonic()
    while time.monotonic() - began < 60 and (not before.exists() or before.read_bytes() == told):
        time.sleep(0.02)
    return 0.0


def _compare(work: Path) -> int:
    digests: dict[str, dict[str, str]] = {}
    for name in ("undisturbed", "killed"):
        report = json.loads((work / name / "run" / "report.json").read_bytes())
        folder = work / name / "versions" / report["version"]
        digests[name] = {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.iterdir())
        }
        print(f"{name}: {report['version']}, {report['recommendation']}, {report['seconds']} s")
    print("| file | undisturbed | killed | same |")
    print("| --- | --- | --- | --- |")
    different = 0
    for name, one in digests["undisturbed"].items():
        other = digests["killed"].get(name, "missing")
        said = "yes" if one == other else "no: holds times" if name in WITH_TIMES else "**no**"
        different += one != other and name not in WITH_TIMES
        print(f"| {name} | {one[:12]} | {other[:12]} | {said} |")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
