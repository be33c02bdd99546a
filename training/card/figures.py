"""Measures what a version's card says: what it learnt from, what it promises, where it fails."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version as installed_version

import numpy as np
import numpy.typing as npt

from models.registry import Fusion
from service.scoring.cutoffs import clopper_pearson
from service.scoring.metrics import (
    OperatingPoint,
    ReliabilityBin,
    brier_score,
    recall_at_false_positive_rate,
    reliability_table,
    roc_auc,
    roc_auc_interval,
)
from training.data.dataset import Dataset, Example
from training.fit.measured import Measured
from training.fit.promotion import MarkedTokens

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

FALSE_POSITIVE_RATES = (0.001, 0.005, 0.01, 0.05)
PACKAGES = ("numpy", "scikit-learn", "scipy")

_LICENCES = {
    "authored": "written for this project, Apache-2.0 like the code",
    "label": "judgements of this project on comments of others, Apache-2.0 like the code",
}
_OTHER_LICENCE = "not this project's: see the data card of the source"

KNOWN_WEAKNESSES = (
    (
        "The data were written by language models that imitate people: real ham is duller, real "
        "spam more repetitive. Figures on real comments differ: see `slopsieve evaluate`."
    ),
    "Account-aging spam and some author-link-only spam read exactly like ham (hardness 3).",
    "Four fifths of the comments are English; other languages have 1 to 30 comments a label.",
    "p_spam is calibrated for the prevalence above. Where spam is rarer, it is stated too high.",
    (
        "The detectors' word lists were written with the same comments at hand that their weights "
        "are fitted on, so the signals' part of the figures is optimistic."
    ),
    "No sender history is in the data, so signals about earlier decisions have no weight yet.",
    "Only the two ends of a text beyond 8,000 characters are read.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All that a card is written from. The scores are out of fold, in the order of the examples."""

    version: str
    trained_at: datetime
    fingerprint: str
    config: Mapping[str, object]
    dataset: Dataset
    fusion: Fusion
    model_p_spam: FloatArray
    p_spam: FloatArray
    marked: MarkedTokens

    @property
    def is_spam(self) -> BoolArray:
        """Return the labels, in the order of the scores."""
        return np.array([example.is_spam for example in self.dataset.examples])


def card_json(card: Card) -> str:
    """Return the card for programs."""
    return json.dumps(_facts(card), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _facts(card: Card) -> Measured:
    is_spam = card.is_spam
    return {
        "version": card.version,
        "trained_at": card.trained_at.isoformat(timespec="seconds"),
        "fingerprint": card.fingerprint,
        "config": dict(card.config),
        "environment": environment(PACKAGES),
        "data": [asdict(f) | {"licence": licence(f.name)} for f in card.dataset.files],
        "prevalence": float(is_spam.mean()),
        "cutoffs": cutoff_facts(card.fusion),
        "out_of_fold": {
            "model_alone": measure(is_spam, card.model_p_spam),
            "all_evidence": measure(is_spam, card.p_spam),
            "reliability": [asdict(b) for b in filled_bins(is_spam, card.p_spam)],
            "slices": slices(card),
            "promotion_marked": asdict(card.marked) | {"f1": card.marked.f1},
        },
        "weights": weight_facts(card.fusion),
        "ham_called_spam": ham_called_spam(card),
        "spam_called_ham": spam_called_ham(card),
        "known_weaknesses": list(KNOWN_WEAKNESSES),
    }


def environment(packages: Sequence[str]) -> Measured:
    """Return which Python and which versions of packages a run uses."""
    versions = {name: installed_version(name) for name in packages}
    return {"python": platform.python_version(), **versions}


def cutoff_facts(fusion: Fusion) -> Measured:
    """Return both cutoffs with what they promise."""
    cutoffs = {"ham_cutoff": fusion.ham_cutoff, "spam_cutoff": fusion.spam_cutoff}
    return {**cutoffs, **fusion.promises}


def weight_facts(fusion: Fusion) -> Measured:
    """Return what model and signals weigh."""
    return {
        "base": fusion.base,
        "model": fusion.model_weight,
        "signals": dict(fusion.signal_weights),
    }


def filled_bins(is_spam: BoolArray, p_spam: FloatArray) -> list[ReliabilityBin]:
    """Return the bins of stated probability that hold comments."""
    return [b for b in reliability_table(is_spam, p_spam) if b.n]


def ham_called_spam(card: Card) -> list[str]:
    """Return the ids of ham that the spam cutoff calls spam."""
    scored = zip(card.dataset.examples, card.p_spam, strict=True)
    return [e.comment.id for e, p in scored if not e.is_spam and p >= card.fusion.spam_cutoff]


def spam_called_ham(card: Card) -> list[str]:
    """Return the ids of spam that the ham cutoff calls ham."""
    scored = zip(card.dataset.examples, card.p_spam, strict=True)
    return [e.comment.id for e, p in scored if e.is_spam and p < card.fusion.ham_cutoff]


def licence(file_name: str) -> str:
    """Return under which licence a data file stands."""
    return _LICENCES.get(file_name.partition("-")[0], _OTHER_LICENCE)


def measure(is_spam: BoolArray, p_spam: FloatArray) -> Measured:
    """Return how well scores part spam and ham, with counts and intervals."""
    points = {
        str(rate): _point(
            recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=rate)
        )
        for rate in FALSE_POSITIVE_RATES
    }
    return {
        "n_spam": int(is_spam.sum()),
        "n_ham": int((~is_spam).sum()),
        "roc_auc": roc_auc(is_spam, p_spam),
        "roc_auc_interval_95": list(roc_auc_interval(is_spam, p_spam)),
        "brier_score": brier_score(is_spam, p_spam),
        "recall_at_false_positive_rate": points,
    }


def _point(point: OperatingPoint) -> Measured:
    low, high = clopper_pearson(point.spam_caught, point.n_spam)
    return {
        "threshold": point.threshold if np.isfinite(point.threshold) else None,
        "spam_caught": point.spam_caught,
        "n_spam": point.n_spam,
        "ham_lost": point.ham_lost,
        "n_ham": point.n_ham,
        "recall": point.recall,
        "recall_interval_95": [low, high],
    }


def _length_band(example: Example) -> str:
    chars = len(example.comment.text)
    for low, top in ((0, 50), (50, 150), (150, 300), (300, 600)):
        if chars < top:
            return f"{low} to {top - 1} characters"
    return "600 characters and more"


def _reading_order(value: str) -> tuple[int, str]:
    """Return a sort key that puts numbers by size, before words by the alphabet."""
    number = value.partition(" ")[0]
    return (int(number), value) if number.isdecimal() else (1_000_000, value)


SLICES: Mapping[str, Callable[[Example], object]] = {
    "kind": lambda e: e.kind,
    "language": lambda e: e.language,
    "hardness": lambda e: e.hardness,
    "length": _length_band,
    "source": lambda e: e.source,
}


def slices(card: Card) -> dict[str, list[Measured]]:
    """Return, for each slice, what becomes of its spam and ham at the cutoffs."""
    answer: dict[str, list[Measured]] = {}
    for name, key in SLICES.items():
        rows: dict[str, list[int]] = {}
        for position, example in enumerate(card.dataset.examples):
            rows.setdefault(str(key(example) or "unknown"), []).append(position)
        answer[name] = [
            {"value": value, **_outcomes(card, np.array(positions))}
            for value, positions in sorted(rows.items(), key=lambda row: _reading_order(row[0]))
        ]
    return answer


def _outcomes(card: Card, positions: npt.NDArray[np.int64]) -> Measured:
    is_spam, p_spam = card.is_spam[positions], card.p_spam[positions]
    called_spam = p_spam >= card.fusion.spam_cutoff
    called_ham = p_spam < card.fusion.ham_cutoff
    both = is_spam.any() and not is_spam.all()
    at_1_percent = recall_at_false_positive_rate(
        card.is_spam, card.p_spam, max_false_positive_rate=0.01
    ).threshold
    return {
        "n_spam": int(is_spam.sum()),
        "spam_called_spam": int((is_spam & called_spam).sum()),
        "spam_called_ham": int((is_spam & called_ham).sum()),
        "spam_caught_at_1_percent": int((is_spam & (p_spam >= at_1_percent)).sum()),
        "n_ham": int((~is_spam).sum()),
        "ham_called_ham": int((~is_spam & called_ham).sum()),
        "ham_called_spam": int((~is_spam & called_spam).sum()),
        "ham_lost_at_1_percent": int((~is_spam & (p_spam >= at_1_percent)).sum()),
        "roc_auc": roc_auc(is_spam, p_spam) if both else None,
    }
