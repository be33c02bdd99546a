"""Measures what a retraining learns from 40 decisions on a kind of spam that it never saw.

    python -m tests.benchmarks.retrain_learning --data DIR ... --work FOLDER [--kind llm-spam]

The kind is taken out of the data wholly: comments of the test part alone, so the shipped version
learnt nothing from them, nor do they stand in the core set of this run. Half of the decisions are
on it, half on ham of the same part (those on the same posts first); what is not decided on is
measured, before and after. Nothing here chooses a knob.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from models.registry import SHIPPED_DIR, promote, read_current_name
from service.scoring.cutoffs import clopper_pearson
from tests.benchmarks.retrain_data import draw, read_rows, write_decisions, write_without
from training.corrections import LABEL_CORRECTIONS
from training.dataset import DEFAULT_DATA, Example, find_data_files, read_dataset
from training.evidence import signal_strengths
from training.members import read_members
from training.partition import SEED, Partition, partition
from training.weigh import files_of


def main() -> int:
    """Measure once and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[])
    parser.add_argument("--kind", choices=["campaigns", "llm-spam"], default="campaigns")
    parser.add_argument("--decisions", type=int, default=40)
    parser.add_argument("--spam-share", type=float, default=0.5)
    parser.add_argument("--draw", type=int, default=1, help="which comments are decided on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    dataset = read_dataset([DEFAULT_DATA, *options.data], corrections=LABEL_CORRECTIONS)
    parts = partition(dataset, seed=SEED)
    pool = _pool(parts, options.kind)
    posts = {e.post_key for e in pool}
    twins = [e for e in parts.test if not e.is_spam and e.post_key in posts]
    row_of = {
        row["id"]: row
        for path in find_data_files([DEFAULT_DATA, *options.data])
        for row in read_rows(path)
    }
    n_spam = min(round(options.decisions * options.spam_share), len(pool) // 2)
    spam = draw([row_of[e.comment.id] for e in pool], f"spam-{options.draw}")
    other_ham = [e for e in parts.test if not e.is_spam and e not in twins]
    ham = draw([row_of[e.comment.id] for e in twins], f"ham-{options.draw}")
    ham += draw([row_of[e.comment.id] for e in other_ham], f"ham-{options.draw}")
    decided = draw(spam[:n_spam] + ham[: options.decisions - n_spam], f"order-{options.draw}")
    decided_ids = {row["id"] for row in decided}
    write_decisions(decided, options.work / "decisions.jsonl")
    # Nor may the core of the comparison have a post in common with what is learnt.
    taught_posts = {e.post_key for e in parts.test if e.comment.id in decided_ids}
    out = {e.comment.id for e in pool} | decided_ids
    out |= {e.comment.id for e in parts.test if e.post_key in taught_posts}
    write_without(options.data, out, options.work / "data")

    versions = options.work / "versions"
    current = read_current_name(SHIPPED_DIR)
    versions.mkdir()
    (versions / current).symlink_to(SHIPPED_DIR / current)
    promote(versions, current)
    began = time.monotonic()
    done = subprocess.run(  # our own command
        [
            *(sys.executable, "-m", "training.retrain", "--no-own-data"),
            *("--data", str(options.work / "data"), "--versions", str(versions)),
            *("--decisions", str(options.work / "decisions.jsonl")),
            *("--run", str(options.work / "run"), "--threads", str(options.threads)),
        ],
        check=False,
    )
    minutes = (time.monotonic() - began) / 60
    if done.returncode:
        return done.returncode
    report = json.loads((options.work / "run" / "report.json").read_bytes())
    rest = [e for e in pool if e.comment.id not in decided_ids]
    core = [e for e in parts.test if not e.is_spam and e.comment.id not in decided_ids]
    _print(report, minutes, versions, current, rest, core, options)
    return 0


def _pool(parts: Partition, kind: str) -> list[Example]:
    """Return spam of the test part alone, of a kind that can be told."""
    if kind == "llm-spam":
        return [e for e in parts.test if e.is_spam and e.kind == "llm-spam"]
    learnt = {e.campaign for e in (*parts.train, *parts.calibration)}
    return [e for e in parts.test if e.is_spam and e.campaign and e.campaign not in learnt]


def _print(
    report: dict[str, Any],
    minutes: float,
    versions: Path,
    current: str,
    rest: list[Example],
    core: list[Example],
    options: argparse.Namespace,
) -> None:
    print(f"# {options.kind}, draw {options.draw}: {options.decisions} decisions")
    print("| version | rest of the kind called spam | caught at 1 % of core ham | unsure | ham |")
    print("| --- | --- | --- | --- | --- |")
    for name in (current, report["version"]):
        if name is None:
            continue
        files = files_of(versions / name) | {
            "fusion.json": (versions / name / "fusion.json").read_bytes()
        }
        members = read_members(files, threads=options.threads)
        on_rest = members.p_spam(rest, signal_strengths(rest))
        on_core = members.p_spam(core, signal_strengths(core))
        at_1 = np.sort(on_core)[-max(1, int(0.01 * len(core)))]
        cut = members.fusion.spam_cutoff
        unsure = int(((on_rest < cut) & (on_rest >= members.fusion.ham_cutoff)).sum())
        cells = [
            name,
            _share(int((on_rest >= cut).sum()), len(rest)),
            _share(int((on_rest > at_1).sum()), len(rest)),
            str(unsure),
            _share(int((on_core >= cut).sum()), len(core)),
        ]
        print(f"| {' | '.join(cells)} |")
    print(f"recommendation: {report['recommendation']}; gains: {report['gains']}")
    print("failed:", [c for c in report["checks"] if not c["passed"]])
    print(
        f"{minutes:.1f} min ({report['seconds']:.0f} s in steps: {report['seconds_by_step']}), "
        f"{report['peak_memory_mb']} MB at most, {options.threads} threads"
    )


def _share(hits: int, of: int) -> str:
    low, high = clopper_pearson(hits, of)
    return f"{hits:,} of {of:,} = {hits / of:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    sys.exit(main())
