"""Measures how far a distribution has moved, and how far chance alone moves one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

# Added to each count, so that an empty bin has a logarithm: Jeffreys' prior for a multinomial.
SMOOTHING = 0.5
BINS = 10


def psi(expected: Sequence[int], actual: Sequence[int]) -> float:
    """Return the population stability index between two counts of the same bins.

    The sum over bins of (a - e) ln(a / e), where e and a are the bins' shares after `SMOOTHING`
    was added to each count (Siddiqi 2006, Credit Risk Scorecards, chapter 9; the same as
    Jeffreys' divergence, 1946). The usual readings are: below 0.1 nothing, from 0.25 a shift. They
    know nothing of n: of 10 bins with 100 comments on each side 0.18 is what chance alone gives
    on average. So it is only read together with `psi_noise`. Raises `ValueError` unless both have
    the same bins, at least two.
    """
    if len(expected) != len(actual) or len(expected) < 2:
        msg = f"psi needs the same bins twice, at least two, got {len(expected)} and {len(actual)}"
        raise ValueError(msg)
    n = sum(expected) + SMOOTHING * len(expected)
    m = sum(actual) + SMOOTHING * len(actual)
    pairs = zip(expected, actual, strict=True)
    shares = [((e + SMOOTHING) / n, (a + SMOOTHING) / m) for e, a in pairs]
    return sum((a - e) * math.log(a / e) for e, a in shares)


def psi_noise(bins: int, n: int, m: int, *, confidence: float) -> float:
    """Return what the index stays below in this share of cases if nothing has moved.

    Drawn n and m times from one distribution it is about (1/n + 1/m) times a chi-square with
    `bins` - 1 degrees of freedom, its mean (bins - 1)(1/n + 1/m) (Yurdakul and Naranjo 2020,
    Statistical properties of the population stability index, Journal of Risk Model Validation
    14(4)). That is for comments which come independently. Those of one burst do not, so a real
    index is larger by chance more often; hence nothing is called a shift for being above the noise
    alone. Raises `ValueError` unless there are two bins and something on each side.
    """
    if bins < 2 or n < 1 or m < 1:
        msg = f"noise needs two bins and something in them, got {bins} bins, n={n}, m={m}"
        raise ValueError(msg)
    return (1 / n + 1 / m) * chi_square_quantile(bins - 1, confidence)


def chi_square_quantile(degrees: int, confidence: float) -> float:
    """Return a chi-square's quantile: exact for one degree of freedom, else close.

    By Wilson and Hilferty (1931, PNAS 17:684-688); at 0.999 within 3 % (2 to 20 degrees).
    """
    normal = NormalDist()
    if degrees == 1:
        return normal.inv_cdf((1 + confidence) / 2) ** 2
    spread = 2 / (9 * degrees)
    root: float = 1 - spread + normal.inv_cdf(confidence) * math.sqrt(spread)
    return degrees * max(0.0, root) ** 3


def quantile_bins(reference: Mapping[int, int], *, bins: int = BINS) -> tuple[int, ...]:
    """Return where bins begin, after the first, that hold about equally much of the reference.

    `reference` counts numbered steps of an axis. A bin ends with the step that fills its share of
    what is left, so none is empty, and where many lie in one step there are fewer bins.
    """
    left = sum(reference.values())
    starts: list[int] = []
    in_bin = 0
    for step in sorted(reference):
        in_bin += reference[step]
        left -= reference[step]
        bins_left = bins - len(starts)
        if bins_left == 1 or not left:
            break
        if in_bin * bins_left >= in_bin + left:
            starts.append(step + 1)
            in_bin = 0
    return tuple(starts)


def counts_in(starts: Sequence[int], counts: Mapping[int, int]) -> tuple[int, ...]:
    """Return how many lie in each bin, of which all but the first begin at `starts`."""
    found = [0] * (len(starts) + 1)
    for step, number in counts.items():
        found[sum(step >= start for start in starts)] += number
    return tuple(found)
