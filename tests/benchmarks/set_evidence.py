"""Counts whose sincere comments evidence with set weights would call spam, over public archives.

Archives hold no forms, addresses or histories, so how often each signal fires on ham is stated here
and not measured: generous guesses, and ten times as much. Each comment is also judged with each
signal at full strength, and with all of them at once.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from models.inputs import ModelOutput
from service.domain.comment import Comment
from service.domain.history import History
from service.domain.verdict import Outcome, Signal
from service.ports.models import JudgingModel
from service.scoring.conclude import conclude
from service.scoring.inputs import model_input
from service.scoring.set_weights import SET_WEIGHTS
from service.signals.registry import detect_all
from tests.benchmarks.judging_model import current_folder, load_judging_model
from tests.factories import NOW
from training.data.dataset import read_dataset
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
_SEED, _BATCH, _DRAWS = 20_260, 64, 20


def _outcome(model: JudgingModel, comment: Comment, seen: Sequence[Signal], p_spam: float) -> str:
    verdict = conclude(
        comment.id,
        signals=seen,
        output=ModelOutput(p_spam=p_spam),
        model_version=model.version,
        weights=model.weights,
        cutoffs=model.cutoffs,
        judged_at=NOW,
    )
    return verdict.outcome.value


def _forced(names: Sequence[str]) -> list[Signal]:
    return [Signal(name=name, strength=1.0, reason="is forced on") for name in names]


def main() -> None:
    """Print how many ham each way of forcing signals on calls spam, leaves unsure, calls ham."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=3_000, help="comments, drawn by a fixed seed")
    options = parser.parse_args()
    model, rng = load_judging_model(current_folder()), random.Random(_SEED)
    dataset = read_dataset(options.files, corrections=_CORRECTIONS)
    ham = [e for e in dataset.examples if not e.is_spam and not e.source.startswith(AUTHORED)]
    ham = rng.sample(ham, min(options.most, len(ham)))
    ways: dict[str, Counter[str]] = {}

    def count(way: str, outcome: str) -> None:
        ways.setdefault(way, Counter())[outcome] += 1

    for start in range(0, len(ham), _BATCH):
        some = [one.comment for one in ham[start : start + _BATCH]]
        outputs = model.classifier.score_batch([model_input(one) for one in some])
        for comment, output in zip(some, outputs, strict=True):
            seen = list(detect_all(comment, History()))

            def judge(names: Sequence[str], comment=comment, seen=seen, p=output.p_spam) -> str:
                return _outcome(model, comment, [*seen, *_forced(names)], p)

            plain = judge([])
            count("without", plain)
            for times in (1, 10):
                for _ in range(_DRAWS):
                    drawn = [name for name, rate in RATES.items() if rng.random() < times * rate]
                    count(f"drawn at {times} x the stated rates", judge(drawn) if drawn else plain)
            for name in RATES:
                count(f"always {name}", judge([name]))
            count("always all", judge(list(RATES)))
    print(f"{model.version}, {len(ham):,} ham, {_DRAWS} draws of each rate")
    for way, counted in ways.items():
        n = counted.total()
        told = ", ".join(f"{o.value} {counted[o]:,} ({counted[o] / n:.3%})" for o in Outcome)
        print(f"{way:40} {told}")
    assert set(RATES) == {name for name, one in SET_WEIGHTS.items() if one.weight > 0.0}


if __name__ == "__main__":
    main()
