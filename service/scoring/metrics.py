"""Figures that say how well scores part spam from ham.

Every function takes parallel arrays: `is_spam` (the labels, booleans) and `p_spam` (higher means
more likely spam), and raises `ValueError` where a label that the figure needs does not occur.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from service.scoring.conclude import logistic
from service.scoring.period import CONFIDENCE, Interval, Share, share_of

Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]
_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """What happens when everything from `threshold` up is called spam.

    `threshold` is infinite where no threshold keeps the promise that was asked for, so that
    nothing is called spam.
    """

    threshold: float
    spam_caught: int
    n_spam: int
    ham_lost: int
    n_ham: int

    @property
    def recall(self) -> float:
        """Return the share of spam that is caught, NaN without spam."""
        return self.spam_caught / self.n_spam if self.n_spam else math.nan

    @property
    def false_positive_rate(self) -> float:
        """Return the share of ham that is called spam, NaN without ham."""
        return self.ham_lost / self.n_ham if self.n_ham else math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The comments whose p_spam lies in `[low, high)`, and how many of them are spam.

    The last bin of a table holds 1.0 as well. An empty one has no mean.
    """

    low: float
    high: float
    n: int
    n_spam: int
    mean_p_spam: float | None
    observed: Share


def roc_auc(is_spam: Flags, p_spam: Scores) -> float:
    """Return the chance that a random spam scores above a random ham, ties counting half.

    That is the Mann-Whitney statistic over n_spam x n_ham, computed from mid-ranks (Hanley and
    McNeil 1982, Radiology 143:29-36).
    """
    n_spam, n_ham = _count_both(is_spam)
    rank_sum = float(_mid_ranks(p_spam)[is_spam].sum())
    return (rank_sum - n_spam * (n_spam + 1) / 2) / (n_spam * n_ham)


def roc_auc_interval(is_spam: Flags, p_spam: Scores) -> Interval:
    """Return a 95 % interval for `roc_auc`, by DeLong's variance on the logit scale, in [0, 1].

    DeLong, DeLong and Clarke-Pearson 1988 (Biometrics 44:837-845), computed by mid-ranks after
    Sun and Xu 2014 (IEEE Signal Processing Letters 21:1389-1393); the logit scale after Pepe 2003,
    section 5.2.4. Where every spam outscores every ham that variance is 0 and says nothing; the
    open end is then Clopper and Pearson's for as many disjoint pairs as the data hold, all of
    which were in order. Needs two spam and two ham.
    """
    n_spam, n_ham = _count_both(is_spam)
    if min(n_spam, n_ham) < 2:
        raise ValueError(f"an interval needs two spam and two ham, got {n_spam} and {n_ham}")
    all_ranks = _mid_ranks(p_spam)
    # For each spam the share of ham below it, for each ham the share of spam above it.
    ham_below = (all_ranks[is_spam] - _mid_ranks(p_spam[is_spam])) / n_ham
    spam_above = 1 - (all_ranks[~is_spam] - _mid_ranks(p_spam[~is_spam])) / n_spam
    auc = float(ham_below.mean())
    variance = float(ham_below.var(ddof=1)) / n_spam + float(spam_above.var(ddof=1)) / n_ham
    tail = (1 - CONFIDENCE) / 2
    disjoint_pairs_bound = tail ** (1 / min(n_spam, n_ham))
    if auc >= 1:
        return (disjoint_pairs_bound, 1.0)
    if auc <= 0:
        return (0.0, 1 - disjoint_pairs_bound)
    logit = math.log(auc / (1 - auc))
    half_width = -NormalDist().inv_cdf(tail) * math.sqrt(variance) / (auc * (1 - auc))
    return (logistic(logit - half_width), logistic(logit + half_width))


def recall_at_false_positive_rate(
    is_spam: Flags, p_spam: Scores, *, max_false_positive_rate: float
) -> OperatingPoint:
    """Return the lowest threshold that calls at most this share of the ham spam, and its counts.

    Comments that share a score are called alike, so a threshold is always a score that occurs
    and a tie is never parted in our favour. There is no interpolation between thresholds.
    """
    _, n_ham = _count_both(is_spam)
    order = np.argsort(-p_spam, kind="stable")
    ranked, labels = p_spam[order], is_spam[order]
    last_of_tie = np.append(ranked[1:] != ranked[:-1], values=True)
    # At the first one nothing is called spam.
    thresholds = np.append(math.inf, ranked[last_of_tie])
    lost = np.append(0, np.cumsum(~labels)[last_of_tie])
    # The same division as `false_positive_rate`, so that the promise holds to the last bit.
    kept = np.searchsorted(lost / n_ham, max_false_positive_rate, side="right")
    return at_threshold(is_spam, p_spam, float(thresholds[kept - 1]))


def at_threshold(is_spam: Flags, p_spam: Scores, threshold: float) -> OperatingPoint:
    """Return the counts where everything from `threshold` up is called spam; no label is needed."""
    called_spam = p_spam >= threshold
    return OperatingPoint(
        threshold=threshold,
        spam_caught=int(np.count_nonzero(called_spam & is_spam)),
        n_spam=int(np.count_nonzero(is_spam)),
        ham_lost=int(np.count_nonzero(called_spam & ~is_spam)),
        n_ham=int(np.count_nonzero(~is_spam)),
    )


def brier_score(is_spam: Flags, p_spam: Scores) -> float:
    """Return the mean squared distance of p_spam from the label, 0 is best.

    Brier 1950 (Monthly Weather Review 78:1-3) in its usual half form. Stating the prevalence for
    every comment scores prevalence x (1 - prevalence): a useful model stays below that.
    """
    if not is_spam.size:
        raise ValueError("a Brier score needs at least one comment")
    return float(np.mean((p_spam - is_spam) ** 2))


def reliability_table(is_spam: Flags, p_spam: Scores) -> tuple[Bin, ...]:
    """Return ten bins of equal width over [0, 1], empty ones included.

    Murphy and Winkler 1977 (Applied Statistics 26:41-47): stated probabilities are calibrated
    where `mean_p_spam` and `observed` agree.
    """
    edges = np.linspace(0, 1, _BINS + 1)
    at = np.clip(np.searchsorted(edges, p_spam, side="right") - 1, 0, _BINS - 1)
    counts = np.bincount(at, minlength=_BINS)
    spam_counts = np.bincount(at[is_spam], minlength=_BINS)
    sums = np.bincount(at, weights=p_spam, minlength=_BINS)
    return tuple(
        Bin(
            low=float(edges[i]),
            high=float(edges[i + 1]),
            n=int(counts[i]),
            n_spam=int(spam_counts[i]),
            mean_p_spam=float(sums[i] / counts[i]) if counts[i] else None,
            observed=share_of(int(spam_counts[i]), int(counts[i])),
        )
        for i in range(_BINS)
    )


def _count_both(is_spam: Flags) -> tuple[int, int]:
    n_spam = int(np.count_nonzero(is_spam))
    n_ham = int(is_spam.size) - n_spam
    if not n_spam or not n_ham:
        raise ValueError(f"this figure needs spam and ham, got {n_spam} spam and {n_ham} ham")
    return n_spam, n_ham


def _mid_ranks(values: Scores) -> Scores:
    """Return ranks from 1 up, equal values sharing the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middle: Scores = last - (counts - 1) / 2
    return middle[inverse]
