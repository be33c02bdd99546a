"""Weighs all evidence: the model and the signals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from models.registry import Fusion
from training.arrays import BoolArray, FloatArray, IntArray
from training.data.dataset import Example
from training.fit.evidence import signal_names
from training.fit.fuse import FittedWeights, fit_fusion, promise, promised_cutoffs
from training.fit.scores import labels, logistic_of, logit_of


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighConfig:
    """The settings of the weighing."""

    # The ridge on the signals' weights. With sources held out (15,446 ham, 4,314 spam of blogs), 1
    # / 3 / 10 leave 4.5 / 4.4 / 5.4 % of the ham and 15.7 / 16.2 / 17.6 % of the spam unsure, and
    # call 7 / 4 / 3 of 476 hard ham spam.
    signal_penalty: float = 3.0
    # A signal with fewer firings gets no weight.
    min_firings: int = 5
    # The promised error rates of the confident verdicts; everything else is unsure.
    max_false_positive_rate: float = 0.001
    # With 2 / 2.5 / 3 % of the spam missed (12,381 ham, 2,528 spam under posts, out of fold) 6.6 /
    # 4.9 / 3.3 % of the ham waits, and 4.7 / 5.6 / 6.7 % of all spam is called ham.
    max_missed_spam_rate: float = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence on some comments: the model's p_spam and a column of strengths per detector.

    `is_promised` selects the comments of the promises, None for all. `folds` are those of the
    linear members: weights fitted without a fold are then close to those that serve.
    """

    examples: Sequence[Example]
    model_p_spam: FloatArray
    strengths: FloatArray
    folds: IntArray
    is_promised: BoolArray | None = None

    @property
    def is_spam(self) -> BoolArray:
        return labels(self.examples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """The fitted weights with their cutoffs, and the scores that they were chosen by.

    `out_of_fold` is each calibration comment's p_spam by weights of the other folds.
    """

    fusion: Fusion
    out_of_fold: FloatArray


def weigh(calibration: Evidence, config: WeighConfig) -> Weighed:
    """Return weights of all evidence, and cutoffs, fitted on out-of-fold scores.

    Files hold no histories, so the weights of histories are set by judgement
    (`service.scoring.weights`), and the cutoffs and their promises apply to unknown senders.
    """
    weights, out_of_fold = fit_weights(calibration, config)
    promised = calibration.is_promised
    kept = np.ones(len(out_of_fold), dtype=np.bool_) if promised is None else promised
    p_spam, is_spam = out_of_fold[kept], calibration.is_spam[kept]
    ham_cutoff, spam_cutoff = promised_cutoffs(
        p_spam,
        is_spam,
        max_false_positive_rate=config.max_false_positive_rate,
        max_missed_spam_rate=config.max_missed_spam_rate,
        by_tail=promised is None,
    )
    wrong_ham, wrong_spam = p_spam[~is_spam] >= spam_cutoff, p_spam[is_spam] < ham_cutoff
    fusion = Fusion(
        base=weights.base,
        model_weight=weights.model,
        signal_weights=weights.signals,
        ham_cutoff=ham_cutoff,
        spam_cutoff=spam_cutoff,
        promises={
            "ham_called_spam": promise(config.max_false_positive_rate, wrong_ham),
            "spam_called_ham": promise(config.max_missed_spam_rate, wrong_spam),
        },
    )
    return Weighed(fusion=fusion, out_of_fold=out_of_fold)


def fit_weights(evidence: Evidence, config: WeighConfig) -> tuple[FittedWeights, FloatArray]:
    """Return the weights of model and signals, and each comment's p_spam.

    Each p_spam is by weights of the other folds.
    """
    is_spam, log_odds = evidence.is_spam, logit_of(evidence.model_p_spam)

    def fit(rows: BoolArray) -> FittedWeights:
        return fit_fusion(
            log_odds[rows],
            evidence.strengths[rows],
            is_spam[rows],
            names=signal_names(),
            penalty=config.signal_penalty,
            min_firings=config.min_firings,
        )

    p_spam = np.zeros(len(is_spam))
    for fold in np.unique(evidence.folds):
        held = evidence.folds == fold
        p_spam[held] = logistic_of(fit(~held).scores(log_odds[held], evidence.strengths[held]))
    return fit(np.ones(len(is_spam), dtype=np.bool_)), p_spam


def signals_alone(evidence: Evidence, config: WeighConfig) -> FloatArray:
    """Return each comment's p_spam by signals without the model, by weights of other folds."""
    silent = np.full(len(evidence.examples), 0.5)
    return fit_weights(replace(evidence, model_p_spam=silent), config)[1]
