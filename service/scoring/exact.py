"""Says how likely chance alone parts a number of hits among two groups as they were found."""

from __future__ import annotations

import math
from statistics import NormalDist

# A millisecond or two.
_MOST_TERMS = 1_000


def chance_of_so_many(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Return the chance of at least `hits` of all the hits falling among the `n`.

    Fisher's exact test, one-sided (1922, Journal of the Royal Statistical Society 85:87-94): if
    both groups are alike, the hits among the `n` are hypergeometric. Exact however few there are,
    and too careful rather than too bold; with more than `_MOST_TERMS` ways, where that would take
    long, by the normal distribution, which is as good there. Raises `ValueError` unless
    0 <= hits <= n and so for the other group.
    """
    if not (0 <= hits <= n and 0 <= other_hits <= other_n):
        msg = f"hits must lie within their groups, got {hits} of {n} and {other_hits} of {other_n}"
        raise ValueError(msg)
    all_hits, everybody = hits + other_hits, n + other_n
    if min(n, all_hits) - hits >= _MOST_TERMS:
        return _by_normal(hits, n, all_hits, everybody)
    whole = _log_choose(everybody, all_hits)
    terms = (
        math.exp(_log_choose(n, some) + _log_choose(other_n, all_hits - some) - whole)
        for some in range(hits, min(n, all_hits) + 1)
    )
    return min(1.0, math.fsum(terms))


def chance_of_such_a_difference(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Return the chance of a difference as large, either way: twice the smaller tail."""
    more = chance_of_so_many(hits, n, other_hits, other_n)
    fewer = chance_of_so_many(other_hits, other_n, hits, n)
    return min(1.0, 2 * min(more, fewer))


def _by_normal(hits: int, n: int, all_hits: int, everybody: int) -> float:
    share = all_hits / everybody
    mean = n * share
    variance = mean * (1 - share) * (everybody - n) / (everybody - 1)
    if variance <= 0:
        return 1.0 if hits <= mean else 0.0
    return 1 - NormalDist(mean, math.sqrt(variance)).cdf(hits - 0.5)


def _log_choose(n: int, k: int) -> float:
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
