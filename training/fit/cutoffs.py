"""Chooses cutoffs by promised error rates."""

import math
from bisect import bisect_left

import numpy as np

from service.scoring.conclude import logistic, logit
from service.scoring.cutoffs import allowed_of, clopper_pearson
from training.arrays import FloatArray

# The share of the ham that its tail is estimated from, and the fewest comments for that.
_TAIL_SHARE = 0.05
_MIN_TAIL = 20
# The standard errors below the upper end of a one-sided 95 % interval.
_SURE = 1.645


def choose_spam_cutoff(ham: FloatArray, *, max_false_positive_rate: float) -> float:
    """Return the lowest cutoff that calls at most this share of the ham spam.

    `ham` has each comment's probability by a model that never saw it. Scores from the cutoff up are
    spam. Raises `ValueError` if there is no ham, or if so much ham scores 1 that no cutoff keeps
    the promise.
    """
    if not len(ham):
        msg = "cannot choose a spam cutoff without ham"
        raise ValueError(msg)
    allowed = allowed_of(len(ham), max_false_positive_rate)
    if allowed >= len(ham):
        return 0.0
    cutoff = math.nextafter(np.sort(ham)[-1 - allowed], math.inf)
    if cutoff > 1.0:
        msg = f"{allowed + 1} of {len(ham)} ham score 1, so no spam cutoff keeps the promise"
        raise ValueError(msg)
    return max(0.0, cutoff)


def tail_spam_cutoff(ham: FloatArray, *, max_false_positive_rate: float) -> float:
    """Return the spam cutoff estimated from the tail of the ham's scores, 0.0 below 400 ham.

    With a rate such as 0.1 % and some thousand ham, the one or two highest scores would decide by
    chance. Above a high threshold most tails are exponential (peaks over threshold: Pickands,
    "Statistical inference using extreme order statistics", 1975), so the cutoff is extrapolated
    from the top 20th of the ham, in log-odds. The mean of n exponential excesses has a standard
    error of itself / sqrt(n); the cutoff keeps the promise with 95 % of such estimates. Raises
    `ValueError` for a rate outside [0, 1].
    """
    log_odds = sorted((logit(p) for p in ham.tolist()), reverse=True)
    above = int(len(ham) * _TAIL_SHARE)
    allowed_of(len(ham), max_false_positive_rate)
    if above < _MIN_TAIL or max_false_positive_rate == 0.0:
        return 0.0
    threshold = log_odds[above]
    mean_excess = sum(log_odds[:above]) / above - threshold
    beyond = above / len(ham) / max_false_positive_rate
    if beyond <= 1.0:
        return 0.0
    at_most = mean_excess * (1.0 + _SURE / math.sqrt(above))
    return logistic(threshold + at_most * math.log(beyond))


def choose_ham_cutoff(spam: FloatArray, *, max_missed_spam_rate: float) -> float:
    """Return the highest cutoff that calls at most this share of the spam ham.

    Scores below the cutoff are ham. Raises `ValueError` if there is no spam.
    """
    if not len(spam):
        msg = "cannot choose a ham cutoff without spam"
        raise ValueError(msg)
    allowed = allowed_of(len(spam), max_missed_spam_rate)
    return float(np.sort(spam)[allowed]) if allowed < len(spam) else 1.0


def count_needed(hits: int, rate: float) -> int:
    """Return the count at which `hits` keep `rate` by the exact one-sided 95 % bound.

    Raises `ValueError` unless 0 < rate < 1.
    """
    if not 0.0 < rate < 1.0:
        msg = f"a bound needs a rate between 0 and 1, got {rate}"
        raise ValueError(msg)

    def is_kept(count: int) -> bool:
        return clopper_pearson(hits, count, confidence=0.9)[1] <= rate

    most = hits + 1
    while not is_kept(most):
        most *= 2
    return bisect_left(range(most), True, lo=hits, key=is_kept)  # noqa: FBT003  # what it looks for
