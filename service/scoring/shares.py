"""Shares with their intervals; in plain Python, which the web processes' image is content with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

Interval = tuple[float, float]

CONFIDENCE = 0.95
# Below this a share jumps by ten points or more with each single comment.
MIN_COUNT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `n`; the share and its 95 % interval are None where `n` is too small to tell."""

    count: int
    n: int
    share: float | None
    low: float | None
    high: float | None


def wilson_interval(successes: float, n: float, *, confidence: float = CONFIDENCE) -> Interval:
    """Return the score interval for a share, (0.0, 1.0) where `n` is 0.

    Of a weighted sample both may be effective numbers, not whole ones.

    Wilson 1927 (Journal of the American Statistical Association 22:209-212). Its coverage is near
    `confidence` on average; use `clopper_pearson` where the promise must hold in every case.
    """
    if not 0 <= successes <= n:
        msg = f"a share needs 0 <= successes <= n, got {successes} of {n}"
        raise ValueError(msg)
    if n == 0:
        return (0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and n the bound is exactly 0 and 1; rounding must not move it.
    low = 0.0 if successes == 0 else (middle - spread) / scale
    high = 1.0 if successes == n else (middle + spread) / scale
    return (low, high)
