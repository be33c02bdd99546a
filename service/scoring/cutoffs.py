"""Chooses cutoffs by the error rate they promise, with exact bounds on what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from service.scoring.conclude import logistic, logit

# Halvings of [0, 1]: after 60 the interval is narrower than a double can tell apart.
_HALVINGS = 60
_MAX_FRACTION_TERMS = 10_000
_TINY = 1e-300
# The share of the ham that its tail is read off from, and the fewest comments that show one.
_TAIL_SHARE = 0.05
_MIN_TAIL = 20
# How many standard errors lie below the upper end of a one-sided 95 % interval.
_SURE = 1.645


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A labelled comment and the probability it was given by something that never saw it."""

    score: float
    is_spam: bool


def choose_spam_cutoff(scored: Sequence[Scored], *, max_false_positive_rate: float) -> float:
    """Return the lowest cutoff that calls at most this share of the ham spam.

    Spam is called from the cutoff up. Raise `ValueError` if there is no ham to choose by, or if
    too much ham scores 1, so that no cutoff keeps the promise.
    """
    ham = sorted((s.score for s in scored if not s.is_spam), reverse=True)
    if not ham:
        msg = "cannot choose a spam cutoff without ham"
        raise ValueError(msg)
    allowed = _allowed(len(ham), max_false_positive_rate)
    if allowed >= len(ham):
        return 0.0
    cutoff = math.nextafter(ham[allowed], math.inf)
    if cutoff > 1.0:
        msg = f"{allowed + 1} of {len(ham)} ham score 1, so no spam cutoff keeps the promise"
        raise ValueError(msg)
    return max(0.0, cutoff)


def tail_spam_cutoff(scored: Sequence[Scored], *, max_false_positive_rate: float) -> float:
    """Return the cutoff that the tail of the ham's scores leads to, 0.0 for fewer than 400 ham.

    The one or two highest ham that a rate such as 0.1 % allows among some thousand say where the
    cutoff lies by their luck. Over a high threshold most tails are exponential (peaks over
    threshold: Pickands, "Statistical inference using extreme order statistics", 1975): from the top
    20th of the ham, in log-odds, it is estimated where the promised share would be left. The mean
    of n exponential excesses has a standard error of itself / sqrt(n); the cutoff keeps the promise
    with 95 % of such estimates. Raise `ValueError` for a rate outside [0, 1].
    """
    ham = sorted((logit(s.score) for s in scored if not s.is_spam), reverse=True)
    above = int(len(ham) * _TAIL_SHARE)
    _allowed(len(ham), max_false_positive_rate)
    if above < _MIN_TAIL or max_false_positive_rate == 0.0:
        return 0.0
    threshold = ham[above]
    mean_excess = sum(ham[:above]) / above - threshold
    beyond = above / len(ham) / max_false_positive_rate
    if beyond <= 1.0:
        return 0.0
    at_most = mean_excess * (1.0 + _SURE / math.sqrt(above))
    return logistic(threshold + at_most * math.log(beyond))


def choose_ham_cutoff(scored: Sequence[Scored], *, max_missed_spam_rate: float) -> float:
    """Return the highest cutoff that calls at most this share of the spam ham.

    Ham is called below the cutoff. Raise `ValueError` if there is no spam to choose by.
    """
    spam = sorted(s.score for s in scored if s.is_spam)
    if not spam:
        msg = "cannot choose a ham cutoff without spam"
        raise ValueError(msg)
    allowed = _allowed(len(spam), max_missed_spam_rate)
    return spam[allowed] if allowed < len(spam) else 1.0


def conformal_hits(count: int, rate: float) -> int:
    """Return how many of `count` may lie beyond a cutoff that the next one shall seldom pass.

    "Seldom" is with a chance of at most `rate`. Of `count + 1` comments in exchangeable order the
    last is among the `hits + 1` outermost with probability (hits + 1) / (count + 1): split
    conformal prediction (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World",
    2005). That holds on average over the draws of these comments, not for each; 0 is also returned
    where there are too few to promise this rate.
    """
    return max(0, _allowed(count + 1, rate) - 1)


def count_needed(hits: int, rate: float, *, confidence: float = 0.95) -> int:
    """Return of how many comments `hits` must be for the exact one-sided bound to keep `rate`.

    Raise `ValueError` unless 0 < rate < 1.
    """
    if not 0.0 < rate < 1.0:
        msg = f"a bound needs a rate between 0 and 1, got {rate}"
        raise ValueError(msg)
    low, high = hits, hits + 1
    while not _is_kept(hits, high, rate, confidence):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_kept(hits, middle, rate, confidence) else (middle, high)
    return high


def _is_kept(hits: int, count: int, rate: float, confidence: float) -> bool:
    return clopper_pearson(hits, count, confidence=2 * confidence - 1)[1] <= rate


def _allowed(count: int, rate: float) -> int:
    """Return how many of `count` a rate allows. Raise `ValueError` for a rate outside [0, 1]."""
    if not 0.0 <= rate <= 1.0:
        msg = f"a promised rate must be in [0, 1], got {rate}"
        raise ValueError(msg)
    # 0.07 x 100 is 7.000000000000001 and 0.29 x 100 is 28.999999999999996: forgive the last digit.
    return math.floor(count * rate + 1e-9)


def clopper_pearson(hits: int, count: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided confidence interval of a share of `hits` in `count`.

    With a count of 0 nothing is known: (0, 1). Raise `ValueError` unless 0 <= hits <= count and
    0 < confidence < 1.
    """
    if not 0 <= hits <= count:
        msg = f"hits must lie between 0 and the count, got {hits} of {count}"
        raise ValueError(msg)
    if not 0.0 < confidence < 1.0:
        msg = f"confidence must be between 0 and 1, got {confidence}"
        raise ValueError(msg)
    tail = (1.0 - confidence) / 2
    low = _beta_quantile(tail, hits, count - hits + 1) if hits else 0.0
    high = _beta_quantile(1.0 - tail, hits + 1, count - hits) if hits < count else 1.0
    return low, high


def _beta_quantile(share: float, a: float, b: float) -> float:
    """Return where the beta distribution reaches `share`, by halving the interval."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _beta_share_below(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_share_below(x: float, a: float, b: float) -> float:
    """Return the share of the beta distribution below x, 0 < x < 1."""
    # The fraction converges fast on this side of the mean; the other side is its mirror image.
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta_share_below(1.0 - x, b, a)
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return math.exp(log_front) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    value, up, down = 1.0, 1.0, 0.0
    for step in range(1, _MAX_FRACTION_TERMS):
        m = step // 2
        if step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        up = 1.0 + term / up or _TINY
        down = 1.0 / (1.0 + term * down or _TINY)
        value *= up * down
        if abs(up * down - 1.0) < 1e-14:
            break
    return value
