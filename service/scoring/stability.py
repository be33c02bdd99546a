"""Measures whether the distribution of scores has shifted."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Siddiqi 2006 (Credit Risk Scorecards, chapter 9): below 0.1 no shift, above 0.25 a large one.
SHIFTED = 0.25
# With fewer verdicts on either side the index is mostly noise: it is about bins / n for each.
MIN_VERDICTS = 200


def population_stability(earlier: Sequence[int], recent: Sequence[int]) -> float | None:
    """Return the population stability index of two histograms over the same bins.

    It is the sum over bins of (recent - earlier) * ln(recent / earlier), of shares (Siddiqi 2006).
    Half a comment is added to each bin, so that an empty one has a logarithm. Returns None if
    either side has fewer than `MIN_VERDICTS`.
    """
    n_earlier, n_recent = sum(earlier), sum(recent)
    if min(n_earlier, n_recent) < MIN_VERDICTS:
        return None
    half = 0.5 * len(earlier)
    index = 0.0
    for count, other in zip(earlier, recent, strict=True):
        before = (count + 0.5) / (n_earlier + half)
        now = (other + 0.5) / (n_recent + half)
        index += (now - before) * math.log(now / before)
    return index
