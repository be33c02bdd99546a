"""Measures what 40 decisions on a kind of spam that the shipped version never saw are worth.

    python -m tests.benchmarks.retrain_learning --data DIR ... --work FOLDER [--kind llm-spam]

The kind is taken out of the data wholly: comments of the test part alone, so the shipped version
learnt nothing from them, nor do they stand in the core set of this run. Half of the decisions are
on it, half on ham of the same part (those on the same posts first). They are made over the API of
a Slopsieve of the benchmark's own, and `slopsieve retrain` learns from them. What was not decided
on is measured: by the model alone before and after, and by the whole service, posted to it before
the decisions, after them, and after the retraining if its candidate is let serve. Nothing here
chooses a knob.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.registry import SHIPPED_DIR, read_current_name
from service.domain.decision import Ruling
from service.scoring.cutoffs import clopper_pearson
from tests.benchmarks.flood import Api
from tests.benchmarks.own_service import data_dir, running
from tests.benchmarks.posting import body_of, post_and_decide
from tests.benchmarks.retrain_data import draw, read_rows, write_without
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import (
    DEFAULT_DATA,
    Example,
    find_data_files,
    read_dataset,
)
from training.data.partition import (
    SEED,
    TEST_SOURCES,
    Partition,
    partition,
)
from training.fit.evidence import signal_strengths
from training.fit.members import read_members
from training.retraining.weigh import files_of

Row = dict[str, Any]


def main() -> int:
    """Measure once and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[])
    kinds = ["campaigns", "llm-spam", *sorted(TEST_SOURCES)]
    parser.add_argument("--kind", choices=kinds, default="campaigns", help="or one blog's spam")
    parser.add_argument("--decisions", type=int, default=40)
    parser.add_argument("--spam-share", type=float, default=0.5)
    parser.add_argument("--draw", type=int, default=1, help="which comments are decided on")
    parser.add_argument("--ham", type=int, default=200, help="how many are posted to be judged")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    dataset = read_dataset([DEFAULT_DATA, *options.data], corrections=LABEL_CORRECTIONS)
    parts = partition(dataset, seed=SEED)
    row_of = {
        row["id"]: row
        for path in find_data_files([DEFAULT_DATA, *options.data])
        for row in read_rows(path)
    }
    pool = _pool(parts, options.kind)
    decided = _decided(pool, parts, row_of, options)
    decided_ids = {row["id"] for row in decided}
    # Nor may the core of the comparison have a post in common with what is learnt.
    taught_posts = {e.post_key for e in parts.test if e.comment.id in decided_ids}
    out = {e.comment.id for e in pool} | decided_ids
    out |= {e.comment.id for e in parts.test if e.post_key in taught_posts}
    write_without(options.data, out, options.work / "data")
    rest = [e for e in pool if e.comment.id not in decided_ids]
    core = [e for e in parts.test if not e.is_spam and e.comment.id not in decided_ids]
    ham = draw([row_of[e.comment.id] for e in core], f"posted-{options.draw}")[: options.ham]
    posted = [*(row_of[e.comment.id] for e in rest), *ham]

    print(f"# {options.kind}, draw {options.draw}: {len(decided)} decisions", flush=True)
    print(
        "| the service | rest of the kind: spam, unsure, ham | ham: spam, unsure, ham | ham lost |"
    )
    print("| --- | --- | --- | --- |")
    taught = options.work / "taught"
    _in_service(options.work / "untaught", lambda api: _print_judged("before", api, posted))
    _in_service(taught, lambda api: _decide(api, decided))
    # Judged on a copy: what is posted is remembered, and would be judged by that later.
    shutil.copytree(taught, options.work / "unretrained")
    _in_service(
        options.work / "unretrained", lambda api: _print_judged("after decisions", api, posted)
    )
    report, minutes = _retrain(taught, options)
    if report["recommendation"] == "promote":
        _in_service(taught, lambda api: _print_judged("after retraining", api, posted))
    _print_models(report, Path(data_dir(str(taught)), "models"), rest, core, options)
    print(f"recommendation: {report['recommendation']}; gains: {report['gains']}")
    print("failed:", [c for c in report["checks"] if not c["passed"]])
    print(
        f"{minutes:.1f} min ({report['seconds']:.0f} s in steps: {report['seconds_by_step']}), "
        f"{report['peak_memory_mb']} MB at most, {options.threads} threads"
    )
    return 0


def _pool(parts: Partition, kind: str) -> list[Example]:
    """Return spam of the test part alone, of a kind that can be told."""
    if kind in TEST_SOURCES:
        return [e for e in parts.test if e.is_spam and e.source == kind]
    if kind == "llm-spam":
        return [e for e in parts.test if e.is_spam and e.kind == "llm-spam"]
    learnt = {e.campaign for e in (*parts.train, *parts.calibration)}
    return [e for e in parts.test if e.is_spam and e.campaign and e.campaign not in learnt]


def _decided(
    pool: Sequence[Example], parts: Partition, row_of: dict[str, Row], options: argparse.Namespace
) -> list[Row]:
    """Return what is decided on, in the order in which it is."""
    posts = {e.post_key for e in pool}
    twins = [e for e in parts.test if not e.is_spam and e.post_key in posts]
    other_ham = [e for e in parts.test if not e.is_spam and e.post_key not in posts]
    n_spam = min(round(options.decisions * options.spam_share), len(pool) // 2)
    spam = draw([row_of[e.comment.id] for e in pool], f"spam-{options.draw}")
    ham = draw([row_of[e.comment.id] for e in twins], f"ham-{options.draw}")
    ham += draw([row_of[e.comment.id] for e in other_ham], f"ham-{options.draw}")
    return draw(spam[:n_spam] + ham[: options.decisions - n_spam], f"order-{options.draw}")


def _in_service(folder: Path, use: Callable[[Api], None]) -> None:
    """Run a Slopsieve on what the folder keeps, for as long as it is used."""
    folder.mkdir(exist_ok=True)
    key = folder / "site_key"
    with running(str(folder)) as up:
        # It is told once, when the site is made.
        if not key.exists():
            key.write_text(up["site_key"])
        use(Api(up["url"], key.read_text()))


def _decide(api: Api, rows: Sequence[Row]) -> None:
    for row in rows:
        ruling = Ruling.REJECT if row["label"] == "spam" else Ruling.APPROVE
        post_and_decide(api, body_of(row), ruling)


def _print_judged(when: str, api: Api, rows: Sequence[Row]) -> None:
    said = {row["id"]: post_and_decide(api, body_of(row))["outcome"] for row in rows}
    outcomes = Counter((row["label"], said[row["id"]]) for row in rows)
    cells = [
        ", ".join(str(outcomes[label, outcome]) for outcome in ("spam", "unsure", "ham"))
        for label in ("spam", "ham")
    ]
    lost = [row["id"] for row in rows if row["label"] == "ham" and said[row["id"]] == "spam"]
    print(f"| {when} | {' | '.join(cells)} | {', '.join(lost) or 'none'} |", flush=True)


def _retrain(folder: Path, options: argparse.Namespace) -> tuple[Row, float]:
    """Run `slopsieve retrain` on what was decided; return its report and the minutes it took."""
    call = "from tests.benchmarks.retrain_learning import retrain; retrain()"
    began = time.monotonic()
    subprocess.run(
        [
            *(sys.executable, "-c", call, "retrain", "--promote"),
            *("--data", str(options.work / "data"), "--data-dir", data_dir(str(folder))),
        ],
        check=True,
        env=os.environ | {"SLOPSIEVE_RETRAIN_THREADS": str(options.threads)},
        stdout=(options.work / "retrain.txt").open("wb"),
    )
    minutes = (time.monotonic() - began) / 60
    (report,) = Path(data_dir(str(folder)), "retraining").glob("*/report.json")
    return json.loads(report.read_bytes()), minutes


def retrain() -> None:
    """Run the command in this process, with the data named and none of the repository's."""
    from service.cli import cli
    from service.data_folder import DataFolder
    from service.settings import Settings
    from service.training_runs.training_program import PROGRAM, Bounds, TrainingProcesses
    from service.training_runs.versions import own_versions_folder

    def without_own_data(settings: Settings) -> TrainingProcesses:
        return TrainingProcesses(
            DataFolder(settings.data_dir).retraining_folder,
            own_versions_folder(settings),
            Bounds(threads=settings.retrain_threads, memory_mb=settings.retrain_memory_mb),
            program=(*PROGRAM, "--no-own-data"),
        )

    cli.main(args=sys.argv[1:], obj=without_own_data)


def _print_models(
    report: Row, versions: Path, rest: list[Example], core: list[Example], options: Any
) -> None:
    """Print what both versions say by the text alone, with the evidence that lies in it."""
    print("| version | rest of the kind called spam | caught at 1 % of core ham | unsure | ham |")
    print("| --- | --- | --- | --- | --- |")
    for name in (read_current_name(SHIPPED_DIR), report["version"]):
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


def _share(hits: int, of: int) -> str:
    low, high = clopper_pearson(hits, of)
    return f"{hits:,} of {of:,} = {hits / of:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    sys.exit(main())
