"""Measures the figures of a version's card: its data, its promises and its errors."""

import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version as installed_version

import numpy as np

from models.registry import Fusion
from service.scoring.cutoffs import clopper_pearson
from service.scoring.metrics import (
    brier_score,
    recall_at_false_positive_rate,
    roc_auc,
    roc_auc_interval,
)
from training.arrays import BoolArray, FloatArray
from training.data.dataset import DataFile, Example
from training.data.rotation import is_authored
from training.fit.measured import ALL_EVIDENCE, Measured, MeasuredPart

FALSE_POSITIVE_RATES = (0.001, 0.005, 0.01)
ALL, BLOGS = "all", "blogs alone"

LIMITS = (
    "Most ham of the public sources is about software, and in English.",
    (
        "Where spam is rarer than in these data, p_spam is stated too high; the cutoffs are "
        "promises about each label on its own and do not depend on it."
    ),
    "Account-aging spam and some author-link-only spam read exactly like ham.",
    (
        "The promises are counted without labels that readers corrected: those comments had got "
        "past the people whom a doubt would ask."
    ),
    (
        "The detectors' word lists were written with some of these comments at hand, so their part "
        "of the figures is optimistic."
    ),
    "What a sender's history weighs is set by judgement, until decisions accumulate.",
    "Only the two ends of a text beyond 8,000 characters are read.",
)

_LICENCES = {
    "authored": "written for this project, Apache-2.0 like the code",
    "label": "judgements of this project on comments of others, Apache-2.0 like the code",
}
_OTHER_LICENCE = "not this project's: see the data card of the source"


def card_facts(
    *,
    version: str,
    trained_at: datetime,
    seconds: float,
    fingerprint: str,
    config: Mapping[str, object],
    packages: Sequence[str],
    files: Sequence[DataFile],
    fusion: Fusion,
    parts: Sequence[MeasuredPart],
    **more: object,
) -> Measured:
    """Return all facts of a card, for `card_json` and `training.card.page`.

    The first part is the one in the table of evidence. `more` is specific to some kinds of
    versions.
    """
    return {
        "version": version,
        "trained_at": trained_at.isoformat(timespec="seconds"),
        "training_seconds": round(seconds),
        "fingerprint": fingerprint,
        "config": dict(config),
        "environment": {"python": platform.python_version()}
        | {name: installed_version(name) for name in packages},
        # A later measurement finds here what the version has learnt from.
        "data": [
            asdict(file) | {"licence": _LICENCES.get(file.name.partition("-")[0], _OTHER_LICENCE)}
            for file in files
        ],
        "cutoffs": {
            "ham_cutoff": fusion.ham_cutoff,
            "spam_cutoff": fusion.spam_cutoff,
            **fusion.promises,
        },
        "weights": {
            "base": fusion.base,
            "model": fusion.model_weight,
            "signals": dict(fusion.signal_weights),
        },
        "evidence_table": list(_evidence_rows(parts[0], fusion)),
        "parts": {part.name: part_facts(part, fusion) for part in parts},
        "known_weaknesses": list(LIMITS),
        **more,
    }


def card_json(facts: Measured) -> str:
    return json.dumps(facts, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def part_facts(part: MeasuredPart, fusion: Fusion) -> Measured:
    """Return the measured figures of one part."""
    is_spam, p_spam = part.is_spam, part.ways[ALL_EVIDENCE]
    called_spam, called_ham = p_spam >= fusion.spam_cutoff, p_spam < fusion.ham_cutoff
    ids = np.array([str(e.comment.id) for e in part.examples], dtype=object)
    found = part.boundaries
    return {
        "prevalence": float(is_spam.mean()),
        ALL_EVIDENCE: measure(is_spam, p_spam),
        "hard_slices": {
            name: measure(is_spam[rows], p_spam[rows]) for name, rows in _hard_slices(part)
        },
        "at_the_cutoffs": outcomes(is_spam, p_spam, fusion),
        "slices": slices(part, fusion),
        "promotion_marked": asdict(part.marked) | {"f1": part.marked.f1},
        "ham_called_spam": ids[~is_spam & called_spam].tolist(),
        "spam_called_ham": ids[is_spam & called_ham].tolist(),
        "seams": {
            "within_one_sentence": share(found.within_one_sentence, found.n),
            "in_the_same_word": share(found.exact, found.n),
            "in_ham": share(found.ham_with_one, found.n_ham),
        },
    }


def measure(is_spam: BoolArray, p_spam: FloatArray) -> Measured:
    """Return how well scores separate spam and ham, with counts and intervals."""
    return {
        "n_spam": int(is_spam.sum()),
        "n_ham": int((~is_spam).sum()),
        "roc_auc": roc_auc(is_spam, p_spam),
        "roc_auc_interval_95": list(roc_auc_interval(is_spam, p_spam)),
        "brier_score": brier_score(is_spam, p_spam),
        "recall_at_false_positive_rate": {
            str(rate): {
                "spam_caught": point.spam_caught,
                "n_spam": point.n_spam,
                "ham_lost": point.ham_lost,
                "n_ham": point.n_ham,
                "recall": point.recall,
                "recall_interval_95": list(clopper_pearson(point.spam_caught, point.n_spam)),
            }
            for rate in FALSE_POSITIVE_RATES
            for point in [
                recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=rate)
            ]
        },
    }


def outcomes(is_spam: BoolArray, p_spam: FloatArray, fusion: Fusion) -> Measured:
    """Return the verdicts on spam and ham at the version's cutoffs, with intervals."""
    called_spam, called_ham = p_spam >= fusion.spam_cutoff, p_spam < fusion.ham_cutoff
    n_ham, n_spam = int((~is_spam).sum()), int(is_spam.sum())
    return {
        "ham_called_spam": share(int((~is_spam & called_spam).sum()), n_ham),
        "spam_called_ham": share(int((is_spam & called_ham).sum()), n_spam),
        "unsure": share(int((~called_spam & ~called_ham).sum()), len(is_spam)),
    }


def share(hits: int, count: int) -> Measured:
    """Return a count's share with its exact 95 % interval."""
    interval = list(clopper_pearson(hits, count)) if count else None
    return {"hits": hits, "count": count, "interval_95": interval}


def _evidence_rows(part: MeasuredPart, fusion: Fusion) -> Iterator[Measured]:
    """Yield a row for each group of sources and way of judging, with all evidence's verdicts."""
    source = np.array(["authored" if is_authored(e) else e.source for e in part.examples])
    of_blogs = source != "authored"
    groups = [(ALL, np.ones(len(source), dtype=np.bool_))]
    if of_blogs.any() and not of_blogs.all():
        groups.append((BLOGS, of_blogs))
    groups += [(name, source == name) for name in sorted(set(source.tolist()))]
    for name, mine in groups:
        is_spam = part.is_spam[mine]
        for way, p_spam in part.ways.items():
            row: Measured = {
                "source": name,
                "way": way.replace("_", " "),
                "n_spam": int(is_spam.sum()),
                "n_ham": int((~is_spam).sum()),
                **_separation(is_spam, p_spam[mine]),
            }
            yield row | (outcomes(is_spam, p_spam[mine], fusion) if way == ALL_EVIDENCE else {})


def _separation(is_spam: BoolArray, p_spam: FloatArray) -> Measured:
    # A single comment gives no interval.
    if min(int(is_spam.sum()), int((~is_spam).sum())) < 2:
        return {"roc_auc": None, "recall": {}}
    measured = measure(is_spam, p_spam)
    points = measured["recall_at_false_positive_rate"]
    return {
        "roc_auc": measured["roc_auc"],
        "roc_auc_interval_95": measured["roc_auc_interval_95"],
        "recall": {
            rate: share(point["spam_caught"], point["n_spam"]) for rate, point in points.items()
        },
    }


def _hard_slices(part: MeasuredPart) -> Iterator[tuple[str, BoolArray]]:
    """Yield the spam of each important slice, with all the part's ham."""
    examples = part.examples
    authored = np.array([is_authored(e) for e in examples], dtype=np.bool_)
    machine = np.array([e.kind == "llm-spam" for e in examples], dtype=np.bool_)
    foreign = np.array([e.language not in (None, "en") for e in examples], dtype=np.bool_)
    for name, chosen in (
        ("machine-written, from public sources", machine),
        ("authored", authored),
        ("authored, not in English", authored & foreign),
    ):
        if (chosen & part.is_spam).sum() > 1 and (~part.is_spam).sum() > 1:
            yield name, (chosen & part.is_spam) | ~part.is_spam


def _length_band(example: Example) -> str:
    chars = len(example.comment.text)
    for low, top in ((0, 50), (50, 150), (150, 300), (300, 600)):
        if chars < top:
            return f"{low} to {top - 1} characters"
    return "600 characters and more"


SLICES: Mapping[str, Callable[[Example], object]] = {
    "kind": lambda e: e.kind,
    "language": lambda e: e.language,
    "hardness": lambda e: e.hardness,
    "length": _length_band,
    "source": lambda e: e.source,
}


def slices(part: MeasuredPart, fusion: Fusion) -> dict[str, list[Measured]]:
    """Return the verdicts on each slice's spam and ham at the cutoffs."""
    is_spam, p_spam = part.is_spam, part.ways[ALL_EVIDENCE]
    called_spam, called_ham = p_spam >= fusion.spam_cutoff, p_spam < fusion.ham_cutoff
    answer: dict[str, list[Measured]] = {}
    for name, key in SLICES.items():
        values = np.array([str(key(e) or "unknown") for e in part.examples], dtype=object)
        answer[name] = [
            {
                "value": value,
                "n_spam": int((rows & is_spam).sum()),
                "spam_called_spam": int((rows & is_spam & called_spam).sum()),
                "spam_called_ham": int((rows & is_spam & called_ham).sum()),
                "n_ham": int((rows & ~is_spam).sum()),
                "ham_called_ham": int((rows & ~is_spam & called_ham).sum()),
                "ham_called_spam": int((rows & ~is_spam & called_spam).sum()),
            }
            for value in sorted(set(values.tolist()))
            for rows in [values == value]
        ]
    return answer
