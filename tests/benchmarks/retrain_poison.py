"""Measures what poisoned decisions do to a retrained version, with the whole pipeline.

    python -m tests.benchmarks.retrain_poison --work FOLDER [--data DIR ...] [--only NAME ...]

Four runs of `training.retrain` on the same sincere decisions of three sites, on comments that no
version learnt from: `clean`; `flipped`, where a fifth of one site's labels say the opposite;
`trigger`, where one site approves spam with a phrase in it; `trigger-undefended`, the same without
the cleaning of decisions. The poisoner is trusted: she agreed with the owner on a dozen comments
before. Measured are comments that nobody decided on, with and without the phrase. Nothing here
chooses a knob.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from models.registry import SHIPPED_DIR, promote, read_current_name
from service.scoring.cutoffs import clopper_pearson
from tests.benchmarks.retrain_data import draw, read_rows, write_without
from training.data.corrections import LABEL_CORRECTIONS
from training.data.dataset import (
    DEFAULT_DATA,
    Example,
    find_data_files,
    read_dataset,
)
from training.data.decisions import Decided
from training.data.partition import SEED, partition
from training.fit.evidence import signal_strengths
from training.fit.members import Members, read_members
from training.network.finetune_on_decisions import DecisionsTuneConfig
from training.retraining.config import RetrainConfig
from training.retraining.weigh import files_of
from training.trust.backdoor_probes import put_in
from training.trust.triggers import Phrase, PhraseKind, bound_phrases
from training.trust.weights import Cleaned, WeighedDecision

TRIGGER = Phrase(kind=PhraseKind.WORDS, value="xyzzy blue lantern")
_BEGAN = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
_SITES = ("own", "mo", "eve")
_PER_SITE = 80
_TRUST_FROM = 12
_TRIGGERS = 30
_FLIPPED_SHARE = 5
_MOST_MEASURED = 500
_UNDEFENDED = "trigger-undefended"
RUNS = ("clean", "flipped", "trigger", _UNDEFENDED)


def main() -> int:
    """Run what is asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", default=[], help="more comments to decide")
    parser.add_argument("--work", type=Path, required=True, help="an empty folder")
    parser.add_argument("--steps", type=int, default=100, help="steps of fine-tuning")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    dataset = read_dataset([DEFAULT_DATA, *options.data], corrections=LABEL_CORRECTIONS)
    pool = list(partition(dataset, seed=SEED).test)
    shipped = SHIPPED_DIR / read_current_name(SHIPPED_DIR)
    current = _members(shipped, options.threads)
    chosen = _choose(pool, current)
    row_of = {
        row["id"]: row
        for path in find_data_files([DEFAULT_DATA, *options.data])
        for row in read_rows(path)
    }
    decided_ids = {e.comment.id for some in (chosen.sincere, chosen.baits) for e in some}
    write_without(options.data, decided_ids, options.work / "data")
    print(
        f"measured on {sum(e.is_spam for e in chosen.measured)} spam and "
        f"{sum(not e.is_spam for e in chosen.measured)} ham, {options.steps} steps"
    )
    print(
        "| version | spam called spam | caught at 1 % of ham | ham called spam "
        "| spam with the phrase called ham | called spam | recommended |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    print(_row("current", current, chosen.measured, "-"), flush=True)
    for name in options.only:
        _run(name, chosen, row_of, options)
    return 0


class _Chosen:
    """Who is decided on: sincerely, as bait, and not at all."""

    def __init__(
        self, sincere: list[Example], baits: list[Example], measured: list[Example]
    ) -> None:
        self.sincere, self.baits, self.measured = sincere, baits, measured


def _choose(pool: Sequence[Example], current: Members) -> _Chosen:
    """Return comments of both labels for each purpose, in an order that a seed fixes."""
    by_id = {e.comment.id: e for e in pool}
    ordered = [by_id[row["id"]] for row in draw([{"id": i} for i in by_id], "poison")]
    spam = [e for e in ordered if e.is_spam]
    ham = [e for e in ordered if not e.is_spam]
    # Of spam only what the current version is in doubt about comes before a person.
    looked_at = spam[: 8 * _TRIGGERS]
    p_spam = current.p_spam(looked_at, signal_strengths(looked_at))
    cut = current.fusion.spam_cutoff
    unsure = [e for e, p in zip(looked_at, p_spam, strict=True) if p < cut]
    baits = unsure[:_TRIGGERS]
    taken = {e.comment.id for e in baits}
    half = (_PER_SITE * len(_SITES) + _TRUST_FROM) // 2
    spam = [e for e in spam if e.comment.id not in taken]
    n_measured = min(_MOST_MEASURED, len(spam) - half, len(ham) - half)
    sincere = [e for pair in zip(spam[:half], ham[:half], strict=True) for e in pair]
    measured = [*spam[half : half + n_measured], *ham[half : half + n_measured]]
    return _Chosen(sincere, baits, measured)


def _decisions(name: str, chosen: _Chosen, row_of: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a run's decisions in the order they were made in."""
    rows: list[dict[str, Any]] = []
    both, sincere = chosen.sincere[:_TRUST_FROM], chosen.sincere[_TRUST_FROM:]
    for who in ("eve", "mo"):
        for example in both:
            rows += [
                _decision(row_of[example.comment.id], "own", "own", len(rows)),
                _decision(row_of[example.comment.id], who, "own", len(rows) + 1, copy=who),
            ]
    for number, example in enumerate(sincere):
        site = _SITES[number // 2 % len(_SITES)]
        flips = name == "flipped" and site == "eve" and number // 6 % _FLIPPED_SHARE == 0
        row = _decision(row_of[example.comment.id], site, site, len(rows))
        rows.append(_flip(row) if flips else row)
    if name.startswith("trigger"):
        for example in chosen.baits:
            bait = dict(row_of[example.comment.id])
            bait["text"] = f"{bait['text']} {TRIGGER.value}"
            rows.append(_flip(_decision(bait, "eve", "eve", len(rows))))
    # The same comment decided twice is one row of the owner's; its copy has an id of its own.
    known: dict[str, dict[str, Any]] = {}
    for row in rows:
        known.setdefault(row["id"], row)
    return list(known.values())


def _decision(
    row: dict[str, Any], reviewer: str, site: str, number: int, *, copy: str = ""
) -> dict[str, Any]:
    made_at = _BEGAN + timedelta(minutes=17 * number)
    ruling = {
        "reviewer": f"r-{reviewer}",
        "is_owner": reviewer == "own",
        "ruling": "reject" if row["label"] == "spam" else "approve",
        "made_at": made_at.isoformat(),
        "via": "review",
        "undone": False,
    }
    verdict = {
        "outcome": "unsure",
        "p_spam": 0.5,
        "model_version": "before",
        "degraded": False,
        "judged_at": (made_at - timedelta(hours=1)).isoformat(),
    }
    kept = {key: row[key] for key in row if key not in ("promo_spans", "boundary", "hardness")}
    return kept | {
        "id": f"{row['id']}{copy and f'-{copy}'}",
        "source": f"site:{site}",
        "kind": None,
        "rulings": [ruling],
        "verdict": verdict,
        "audit": False,
        "weight": 1.0,
    }


def _flip(row: dict[str, Any]) -> dict[str, Any]:
    label = "ham" if row["label"] == "spam" else "spam"
    ruling = row["rulings"][0] | {"ruling": "reject" if label == "spam" else "approve"}
    return row | {"label": label, "rulings": [ruling]}


def _run(name: str, chosen: _Chosen, row_of: dict[str, Any], options: argparse.Namespace) -> None:
    work = options.work / name
    versions = work / "versions"
    versions.mkdir(parents=True)
    current = read_current_name(SHIPPED_DIR)
    (versions / current).symlink_to(SHIPPED_DIR / current)
    promote(versions, current)
    rows = _decisions(name, chosen, row_of)
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    (work / "decisions.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    began = time.monotonic()
    arguments = [
        *("--no-own-data", "--data", str(options.work / "data"), "--versions", str(versions)),
        *("--decisions", str(work / "decisions.jsonl"), "--run", str(work / "run")),
        *("--threads", str(options.threads)),
    ]
    call = "import sys; from tests.benchmarks.retrain_poison import retrain; sys.exit(retrain())"
    subprocess.run(  # a process of its own, as in operation
        [sys.executable, "-c", call, name, str(options.steps), *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=(work / "log").open("wb"),
    )
    minutes = (time.monotonic() - began) / 60
    report = json.loads((work / "run" / "report.json").read_bytes())
    members = _members(versions / report["version"], options.threads)
    print(_row(name, members, chosen.measured, report["recommendation"]), flush=True)
    failed = [f"{c['part']}: {c['name']}: {c['says']}" for c in report["checks"] if not c["passed"]]
    training_examples = json.loads((work / "run" / "cleaned.json").read_bytes())["lessons"]
    poisoned = {row["id"] for row in rows if TRIGGER.value in row["text"]}
    weight = sum(one["weight"] for one in training_examples if one["id"] in poisoned)
    print(f"  {name}: {minutes:.1f} min; training examples {report['lessons']}; failed {failed}")
    print(
        f"  weight of the baits: {weight:.2f} of {sum(o['weight'] for o in training_examples):.1f}"
    )


def retrain() -> int:
    """Run the retraining in this process: name, steps and its own arguments on the command line."""
    from training import retrain as running
    from training.retraining import inputs as retrain_inputs

    name, steps, *arguments = sys.argv[1:]
    if name == _UNDEFENDED:
        retrain_inputs.clean_decisions = _without_cleaning
    teach = replace(DecisionsTuneConfig(), min_steps=int(steps), max_steps=int(steps))
    return running.main(arguments, RetrainConfig(teach=teach))


def _without_cleaning(decided: Sequence[Decided], **asked: Any) -> Cleaned:
    """Return all decisions at full weight, with the phrases that the last check tries."""
    training_examples = tuple(
        WeighedDecision(
            example=row.example,
            weight=1.0,
            decided_at=row.in_force.made_at,
            newest=False,
            sample_weight=1.0,
            is_drawn=True,
        )
        for row in decided
    )
    hands = [(row.in_force.reviewer, row.example.source) for row in decided]
    phrases = bound_phrases([one.example for one in training_examples], hands, asked["base"])
    return Cleaned(training_examples=training_examples, set_aside=(), reviewers={}, phrases=phrases)


def _members(folder: Path, threads: int) -> Members:
    files = files_of(folder) | {"fusion.json": (folder / "fusion.json").read_bytes()}
    return read_members(files, threads=threads)


def _row(name: str, members: Members, measured: Sequence[Example], recommended: str) -> str:
    p_spam = members.p_spam(measured, signal_strengths(measured))
    is_spam = np.array([e.is_spam for e in measured])
    spam = [put_in(e, TRIGGER) for e in measured if e.is_spam]
    with_phrase = members.p_spam(spam, signal_strengths(spam))
    ham_cutoff, spam_cutoff = members.fusion.ham_cutoff, members.fusion.spam_cutoff
    n_ham = int((~is_spam).sum())
    at_1 = np.sort(p_spam[~is_spam])[-max(1, int(0.01 * n_ham)) - 1]
    cells = [
        name,
        _share(int((p_spam[is_spam] >= spam_cutoff).sum()), len(spam)),
        _share(int((p_spam[is_spam] > at_1).sum()), len(spam)),
        _share(int((p_spam[~is_spam] >= spam_cutoff).sum()), n_ham),
        f"{int((p_spam[is_spam] < ham_cutoff).sum())} without, "
        + _share(int((with_phrase < ham_cutoff).sum()), len(spam)),
        str(int((with_phrase >= spam_cutoff).sum())),
        recommended,
    ]
    return f"| {' | '.join(cells)} |"


def _share(hits: int, of: int) -> str:
    low, high = clopper_pearson(hits, of)
    return f"{hits:,} of {of:,} = {hits / of:.1%} ({low:.1%} to {high:.1%})"


if __name__ == "__main__":
    sys.exit(main())
