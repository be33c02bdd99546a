"""Compares a candidate with the current version by the criteria of RELEASE_CRITERIA.md."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from training.arrays import BoolArray, FloatArray

# With fewer held decisions, spam or ham there is no comparison.
_MIN_HELD, _MIN_EACH = 30, 10
# The share of the ham that may additionally wait for a moderator.
_WAITING_TOLERANCE = 0.02
_RESAMPLES, _SEED = 1_000, 20_260


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Comments with both versions' scores, at the same cutoffs."""

    name: str
    ids: Sequence[str]
    is_spam: BoolArray
    current: FloatArray
    candidate: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One criterion applied to one part; `says` has its counts."""

    part: str
    name: str
    passed: bool
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All checks, the gains, and the ids of ham that only one version calls spam."""

    checks: tuple[Check, ...]
    gains: tuple[str, ...]
    newly_lost: tuple[str, ...]
    no_longer_lost: tuple[str, ...]

    @property
    def promote(self) -> bool:
        """Return True if nothing got worse and something got better."""
        return bool(self.gains) and all(check.passed for check in self.checks)


def compare(held: Part, replayed: Part, *, ham_cutoff: float, spam_cutoff: float) -> Comparison:
    """Return the results of the criteria for a candidate; they are deterministic.

    `held` are decisions that neither version has learnt. `replayed` are comments that both have
    learnt: there the candidate may lose nothing, and gains do not count.
    """
    parts, checks = (held, replayed), [_enough(held)]
    for part in parts:
        checks += _no_worse(part, ham_cutoff, spam_cutoff)
    swapped = [replace(part, current=part.candidate, candidate=part.current) for part in parts]
    return Comparison(
        checks=tuple(checks),
        gains=tuple(_gains(held)),
        newly_lost=tuple(one for part in parts for one in _newly_lost(part, spam_cutoff)),
        no_longer_lost=tuple(one for part in swapped for one in _newly_lost(part, spam_cutoff)),
    )


def _newly_lost(part: Part, spam_cutoff: float) -> list[str]:
    """Return the ids of ham that only the candidate calls spam."""
    newly = ~part.is_spam & (part.candidate >= spam_cutoff) & (part.current < spam_cutoff)
    return [part.ids[int(i)] for i in np.flatnonzero(newly)]


def _enough(held: Part) -> Check:
    n, spam = len(held.ids), int(held.is_spam.sum())
    enough = n >= _MIN_HELD and min(spam, n - spam) >= _MIN_EACH
    return Check(
        part=held.name,
        name="enough to compare",
        passed=enough,
        says=f"{spam} spam and {n - spam} ham; {_MIN_HELD} with {_MIN_EACH} of each are needed",
    )


def _no_worse(part: Part, ham_cutoff: float, spam_cutoff: float) -> Iterator[Check]:
    ham, spam, scores = ~part.is_spam, part.is_spam, (part.current, part.candidate)
    n_ham, newly = int(ham.sum()), len(_newly_lost(part, spam_cutoff))
    was_missed, is_missed = (int((spam & (p < ham_cutoff)).sum()) for p in scores)
    was_left, is_left = (int((ham & (p >= ham_cutoff) & (p < spam_cutoff)).sum()) for p in scores)
    for name, passed, says in (
        ("no ham newly called spam", not newly, f"{newly} of {n_ham} ham"),
        (
            "no more spam called ham",
            is_missed <= was_missed,
            f"{is_missed} of {int(spam.sum())} spam, {was_missed} before",
        ),
        (
            "no more ham left to a person",
            is_left - was_left <= _WAITING_TOLERANCE * n_ham,
            f"{is_left} of {n_ham} ham, {was_left} before",
        ),
    ):
        yield Check(part=part.name, name=name, passed=passed, says=says)


def _gains(held: Part) -> Iterator[str]:
    """Yield the gain in log-loss on held decisions if its 95 % interval is above 0.

    The interval is a bootstrap over comments (Efron 1979, Annals of Statistics 7:1-26).
    """
    if not len(held.ids):
        return
    gained = _losses(held.current, held.is_spam) - _losses(held.candidate, held.is_spam)
    rng = np.random.default_rng(_SEED)
    drawn = rng.integers(len(gained), size=(_RESAMPLES, len(gained)))
    low, high = np.quantile(gained[drawn].mean(axis=1), (0.025, 0.975))
    if low > 0:
        yield (
            f"log-loss of {len(gained)} held decisions fell by {gained.mean():.3f} "
            f"({low:.3f} to {high:.3f})"
        )


def _losses(p_spam: FloatArray, is_spam: BoolArray) -> FloatArray:
    p = np.clip(p_spam, 1e-6, 1 - 1e-6)
    losses: FloatArray = -np.log(np.where(is_spam, p, 1 - p))
    return losses
