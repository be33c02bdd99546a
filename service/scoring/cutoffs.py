"""Exact bounds on a share, and how many comments may lie beyond a cutoff that keeps a promise."""

import math

# Halvings of [0, 1]: after 60 the interval is narrower than a double can tell apart.
_HALVINGS = 60
_MAX_FRACTION_TERMS = 10_000
_TINY = 1e-300


def conformal_hits(count: int, rate: float) -> int:
    """Return how many of `count` may lie beyond a cutoff that the next one shall seldom pass.

    "Seldom" is with a chance of at most `rate`. Of `count + 1` comments in exchangeable order the
    last is among the `hits + 1` outermost with probability (hits + 1) / (count + 1): split
    conformal prediction (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World",
    2005). That holds on average over the draws of these comments, not for each; 0 is also returned
    where there are too few to promise this rate.
    """
    return max(0, allowed_of(count + 1, rate) - 1)


def allowed_of(count: int, rate: float) -> int:
    """Return how many of `count` a rate allows. Raise `ValueError` for a rate outside [0, 1]."""
    if not 0.0 <= rate <= 1.0:
        raise ValueError(f"a promised rate must be in [0, 1], got {rate}")
    # 0.07 x 100 is 7.000000000000001 and 0.29 x 100 is 28.999999999999996: forgive the last digit.
    return math.floor(count * rate + 1e-9)


def clopper_pearson(hits: int, count: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided confidence interval of a share of `hits` in `count`.

    With a count of 0 nothing is known: (0, 1). Raise `ValueError` unless 0 <= hits <= count and
    0 < confidence < 1.
    """
    if not 0 <= hits <= count:
        raise ValueError(f"hits must lie between 0 and the count, got {hits} of {count}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be between 0 and 1, got {confidence}")
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
