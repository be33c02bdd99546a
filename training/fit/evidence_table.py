"""Sets all evidence beside the model alone, the signals alone and a TF-IDF filter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from service.scoring.cutoffs import clopper_pearson
from service.scoring.metrics import recall_at_false_positive_rate, roc_auc, roc_auc_interval
from training.data.dataset import Example
from training.data.partition import AUTHORED
from training.fit.fuse import promised_cutoffs
from training.fit.measured import EVIDENCE_RATES, Measured
from training.fit.reading import all_evidence, logistic_of, logit_of
from training.fit.weighing import (
    Evidence,
    WeighConfig,
    Weighed,
    fit_weights,
)

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way of judging.

    The calibration scores come from something not fitted on them, but for the three numbers that
    join the model's members and the ridge of TF-IDF, which were.
    """

    name: str
    calibration: FloatArray
    test: FloatArray


def ways_of_judging(
    calibration: Evidence,
    test: Evidence,
    weighed: Weighed,
    config: WeighConfig,
) -> list[Way]:
    """Return each way's p_spam on both parts."""
    silent, nothing = _without_model(calibration), logit_of(np.full(len(test.examples), 0.5))
    weights, out_of_fold = fit_weights(silent, config)
    return [
        Way(
            name="all evidence",
            calibration=weighed.out_of_fold,
            test=all_evidence(test.model_p_spam, test.strengths, weighed.fusion),
        ),
        Way(name="model alone", calibration=calibration.model_p_spam, test=test.model_p_spam),
        Way(
            name="signals alone",
            calibration=out_of_fold,
            test=logistic_of(weights.scores(nothing, test.strengths)),
        ),
    ]


def signals_alone(evidence: Evidence, config: WeighConfig) -> FloatArray:
    """Return what signals say without the model, by weights fitted for that on other folds."""
    return fit_weights(_without_model(evidence), config)[1]


def _without_model(evidence: Evidence) -> Evidence:
    return replace(evidence, model_p_spam=np.full(len(evidence.examples), 0.5))


def measure_ways(
    ways: Sequence[Way], calibration: Evidence, test: Evidence, config: WeighConfig
) -> list[Measured]:
    """Return one row a source and way: counts, ROC AUC, recall, and what promised cutoffs leave.

    Each way's cutoffs are chosen on the calibration part by the same promises.
    """
    rows = []
    for source, mine in _sources(test.examples):
        is_spam = test.is_spam[mine]
        for way in ways:
            promised = calibration.is_promised
            kept = np.ones(len(way.calibration), dtype=np.bool_) if promised is None else promised
            cutoffs = promised_cutoffs(
                way.calibration[kept],
                calibration.is_spam[kept],
                max_false_positive_rate=config.max_false_positive_rate,
                max_missed_spam_rate=config.max_missed_spam_rate,
                is_new=calibration.is_new,
                by_tail=promised is None,
            )
            rows.append(
                {
                    "source": source,
                    "way": way.name,
                    "n_spam": int(is_spam.sum()),
                    "n_ham": int((~is_spam).sum()),
                    **_separation(is_spam, way.test[mine]),
                    **_outcomes(is_spam, way.test[mine], cutoffs),
                }
            )
    return rows


def _sources(examples: Sequence[Example]) -> Iterator[tuple[str, BoolArray]]:
    """Yield the whole part, what of it is no authored comment, then each source of it.

    Authored files count as one.
    """
    source = np.array(["authored" if e.source.startswith(AUTHORED) else e.source for e in examples])
    of_blogs = source != "authored"
    wholes = [("all", np.ones(len(examples), dtype=np.bool_))]
    if of_blogs.any() and not of_blogs.all():
        wholes.append(("blogs alone", of_blogs))
    yield from wholes
    for name in sorted(set(source.tolist())):
        yield name, source == name


def _separation(is_spam: BoolArray, p_spam: FloatArray) -> Measured:
    # Of one comment there is no interval.
    if min(int(is_spam.sum()), int((~is_spam).sum())) < 2:
        return {"roc_auc": None, "recall": {}}
    points = {
        str(rate): recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=rate)
        for rate in EVIDENCE_RATES
    }
    return {
        "roc_auc": roc_auc(is_spam, p_spam),
        "roc_auc_interval_95": list(roc_auc_interval(is_spam, p_spam)),
        "recall": {
            rate: _share(point.spam_caught, point.n_spam) | {"ham_lost": point.ham_lost}
            for rate, point in points.items()
        },
    }


def _outcomes(is_spam: BoolArray, p_spam: FloatArray, cutoffs: tuple[float, float]) -> Measured:
    called_ham, called_spam = p_spam < cutoffs[0], p_spam >= cutoffs[1]
    n_ham, n_spam = int((~is_spam).sum()), int(is_spam.sum())
    return {
        "unsure": _share(int((~called_ham & ~called_spam).sum()), len(is_spam)),
        "ham_called_spam": _share(int((~is_spam & called_spam).sum()), n_ham),
        "spam_called_ham": _share(int((is_spam & called_ham).sum()), n_spam),
    }


def _share(hits: int, of: int) -> Measured:
    return {"hits": hits, "count": of, "interval_95": list(clopper_pearson(hits, of))}
