"""Counts whose sincere comments evidence with set weights would call spam, over public archives.

Archives hold no forms, addresses or histories, so how often each signal fires on ham is stated here
and not measured: generous guesses, and ten times as much. Each comment is also judged with each
signal at full strength, and with all of them at once. With `--scores` all ham counts, by the scores
of a version that learnt nothing from its source, a line a comment, `{"id", "log_odds"}`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.history import History
from service.domain.verdict import Outcome, Signal
from service.ports.models import JudgingModel
from service.scoring.conclude import conclude, logistic
from service.scoring.inputs import model_input
from service.scoring.set_weights import SET_WEIGHTS
from service.scoring.weights import Cutoffs, Weights
from service.signals.registry import detect_all
from tests.benchmarks.judging_model import current_folder, load_judging_model
from tests.factories import NOW
from training.data.dataset import Example, find_data_files, read_dataset, read_rows
from training.data.partition import AUTHORED

_CORRECTIONS = Path(__file__).parents[2] / "data" / "label-corrections.jsonl"
# How often each fires on ham: a browser that fills hidden fields, a carrier's address, a class.
RATES = {
    "honeypot_filled": 0.005,
    "too_fast": 0.01,
    "nothing_typed": 0.01,
    "faster_than_reading": 0.005,
    "driven_browser": 0.002,
    "misused_form_token": 0.005,
    "missing_form_token": 0.1,
    "listed_address": 0.02,
    "listed_domain": 0.005,
    "throwaway_mail": 0.01,
    "sender_burst": 0.005,
    "copy_burst": 0.005,
    "rejected_person_before": 0.005,
    "rejected_address_before": 0.01,
    "rejected_mail_domain_before": 0.005,
    "rejected_target_before": 0.005,
    "rejected_copy_before": 0.002,
    "rejected_ring_before": 0.002,
    "offer_after_remarks": 0.01,
    "added_by_edit": 0.005,
    "dormant_account": 0.001,
    "praise_only_history": 0.01,
}
_SEED, _BATCH, _DRAWS = 20_260, 64, 5


@dataclass(frozen=True, slots=True)
class _Judged:
    """A comment as its content has it: the score, what is seen in it, and by which weights."""

    p_spam: float
    seen: Sequence[Signal]
    weights: Weights


def _outcome(one: _Judged, names: Sequence[str], cutoffs: Cutoffs) -> str:
    verdict = conclude(
        CommentId("forced"),
        signals=[*one.seen, *_forced(names)],
        output=ModelOutput(p_spam=one.p_spam),
        model_version="forced",
        weights=one.weights,
        cutoffs=cutoffs,
        judged_at=NOW,
    )
    return verdict.outcome.value


def _judge(model: JudgingModel, ham: Sequence[Example]) -> Iterator[_Judged]:
    for start in range(0, len(ham), _BATCH):
        some = [one.comment for one in ham[start : start + _BATCH]]
        outputs = model.classifier.score_batch([model_input(one) for one in some])
        for comment, output in zip(some, outputs, strict=True):
            yield _Judged(output.p_spam, tuple(detect_all(comment, History())), model.weights)


def _read(path: Path, ham: Sequence[Example]) -> Iterator[_Judged]:
    scores = {str(row["id"]): float(str(row["log_odds"])) for _, row in read_rows(path, [])}
    whole = Weights(base=0.0, model=1.0, signals={})
    for one in ham:
        if str(one.comment.id) in scores:
            yield _Judged(logistic(scores[str(one.comment.id)]), (), whole)


def _forced(names: Sequence[str]) -> list[Signal]:
    return [Signal(name=name, strength=1.0, reason="is forced on") for name in names]


def main() -> None:
    """Print how many ham each way of forcing signals on calls spam, leaves unsure, calls ham."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="data files, or folders of them")
    parser.add_argument("--scores", type=Path)
    parser.add_argument("--most", type=int, default=3_000, help="without --scores, drawn at random")
    options = parser.parse_args()
    model, rng = load_judging_model(current_folder()), random.Random(_SEED)
    dataset = read_dataset(find_data_files(options.files), corrections=_CORRECTIONS)
    ham = [e for e in dataset.examples if not e.is_spam and not e.source.startswith(AUTHORED)]
    if options.scores:
        judged = _read(options.scores, ham)
    else:
        judged = _judge(model, rng.sample(ham, min(options.most, len(ham))))
    ways: dict[str, Counter[str]] = {}

    def count(way: str, outcome: str) -> None:
        ways.setdefault(way, Counter())[outcome] += 1

    for one in judged:
        plain = _outcome(one, [], model.cutoffs)
        count("without", plain)
        for times in (1, 10):
            for _ in range(_DRAWS):
                drawn = [name for name, rate in RATES.items() if rng.random() < times * rate]
                outcome = _outcome(one, drawn, model.cutoffs) if drawn else plain
                count(f"drawn at {times} x the stated rates", outcome)
        for name in RATES:
            count(f"always {name}", _outcome(one, [name], model.cutoffs))
        count("always all", _outcome(one, list(RATES), model.cutoffs))
    print(f"{model.version}, {ways['without'].total():,} ham, {_DRAWS} draws of each rate")
    for way, counted in ways.items():
        n = counted.total()
        told = ", ".join(f"{o.value} {counted[o]:,} ({counted[o] / n:.3%})" for o in Outcome)
        print(f"{way:40} {told}")
    assert set(RATES) == {name for name, one in SET_WEIGHTS.items() if one.weight > 0.0}


if __name__ == "__main__":
    main()
