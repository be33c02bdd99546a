"""Holds a candidate against the current version by the criteria of RELEASE_CRITERIA.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from service.scoring.metrics import recall_at_false_positive_rate
from service.scoring.shares import CONFIDENCE

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """The numbers of RELEASE_CRITERIA.md; a test holds that page and these together."""

    # Recall is compared where both versions lose at most this share of the ham.
    max_false_positive_rate: float = 0.01
    # How much of it may be lost in truth: the lower end of the interval must lie above.
    recall_tolerance: float = 0.02
    slice_recall_tolerance: float = 0.10
    # Comments left to a person may become more by this share of all.
    unsure_tolerance: float = 0.02
    # Fewer spam or ham in a slice say nothing.
    min_slice: int = 30
    # A part of fewer says nothing at all.
    min_part: int = 100
    resamples: int = 1_000
    # Any number does; it only has to stay the same for a comparison to be repeated.
    seed: int = 20_260


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A version's answers to some comments: probabilities, and its own cutoffs."""

    p_spam: FloatArray
    ham_cutoff: float
    spam_cutoff: float

    @property
    def called_spam(self) -> BoolArray:
        """Return which comments it calls spam."""
        return self.p_spam >= self.spam_cutoff

    @property
    def called_ham(self) -> BoolArray:
        """Return which comments it calls ham."""
        return self.p_spam < self.ham_cutoff


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Comments that neither version learnt from, with what both say of them.

    `slices` names for each kind of slice the value of every comment, in order.
    """

    name: str
    ids: Sequence[str]
    is_spam: BoolArray
    current: Scored
    candidate: Scored
    slices: dict[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One criterion applied to one part; `says` has its counts."""

    part: str
    name: str
    passed: bool
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All checks, and the ham that only the candidate calls spam, by id."""

    checks: tuple[Check, ...]
    gains: tuple[str, ...]
    newly_lost: tuple[str, ...]
    no_longer_lost: tuple[str, ...]

    @property
    def promote(self) -> bool:
        """Say whether the candidate may serve: nothing got worse and something got better."""
        return bool(self.gains) and all(check.passed for check in self.checks)


def compare(
    parts: Sequence[Part],
    criteria: Criteria | None = None,
    *,
    held: Part | None = None,
    learnt: Part | None = None,
    others: Sequence[Check] = (),
) -> Comparison:
    """Return what the criteria say of a candidate; the same input gives the same answer.

    `held` are decisions too few for a part of their own, kept from the candidate's learning: it
    may lose none of their ham anew, and may show its gain on their spam. What it gains on
    `learnt`, the decisions that it was taught, is no gain; ham of them newly lost refuses it. Both
    may lack spam or ham. `others` are checks made elsewhere that must have passed, too. Raise
    `ValueError` for no parts, or one that lacks spam or ham.
    """
    criteria = criteria or Criteria()
    if not parts:
        raise ValueError("a comparison needs at least one part")
    for part in parts:
        if not part.is_spam.any() or part.is_spam.all():
            msg = f"the part {part.name} needs spam and ham"
            raise ValueError(msg)
    checks = [check for part in parts for check in _checks(part, criteria)]
    few = [part for part in (held, learnt) if part is not None and len(part.ids)]
    for part in few:
        checks += [_none_newly_lost(part), _called_ham(part)]
    checks += others
    gains = [gain for part in parts for gain in _gains(part, criteria)]
    if held is not None and len(held.ids):
        gains += _gains_on_few(held, parts[0], criteria)
    everything = [*parts, *few]
    lost = [part.candidate.called_spam & ~part.is_spam for part in everything]
    before = [part.current.called_spam & ~part.is_spam for part in everything]
    return Comparison(
        checks=tuple(checks),
        gains=tuple(gains),
        newly_lost=_names(everything, [a & ~b for a, b in zip(lost, before, strict=True)]),
        no_longer_lost=_names(everything, [b & ~a for a, b in zip(lost, before, strict=True)]),
    )


def _checks(part: Part, criteria: Criteria) -> Iterator[Check]:
    n = len(part.ids)
    yield Check(
        part=part.name,
        name="enough to tell",
        passed=n >= criteria.min_part,
        says=f"{n} comments, {criteria.min_part} needed",
    )
    yield _ham_lost(part, "ham called spam", np.ones(n, dtype=bool))
    yield _called_ham(part)
    rate = criteria.max_false_positive_rate
    low, high = recall_difference(part, criteria, rate=rate)
    yield Check(
        part=part.name,
        name=f"recall at {rate:.1%} false positives",
        passed=low >= -criteria.recall_tolerance,
        says=f"difference {low:+.3f} to {high:+.3f}",
    )
    yield _unsure(part, criteria)
    for kind, values in part.slices.items():
        for value in sorted(set(values)):
            yield from _slice_checks(part, kind, value, criteria)


def _ham_lost(part: Part, name: str, rows: BoolArray) -> Check:
    ham = rows & ~part.is_spam
    before = int(np.count_nonzero(part.current.called_spam & ham))
    after = int(np.count_nonzero(part.candidate.called_spam & ham))
    says = f"{before} of {np.count_nonzero(ham)} before, {after} after"
    return Check(part=part.name, name=name, passed=after <= before, says=says)


def _none_newly_lost(part: Part) -> Check:
    """Ham among few decisions is named, not counted: none may be lost that was not before."""
    ham = ~part.is_spam
    newly = int(np.count_nonzero(part.candidate.called_spam & ham & ~part.current.called_spam))
    says = f"{newly} of {np.count_nonzero(ham)} newly"
    return Check(part=part.name, name="ham called spam", passed=newly == 0, says=says)


def _called_ham(part: Part) -> Check:
    """Missed spam is seen by readers: it may not become more than chance makes of the same."""
    spam = part.is_spam
    before = part.current.called_ham & spam
    after = part.candidate.called_ham & spam
    more, fewer = int(np.count_nonzero(after & ~before)), int(np.count_nonzero(before & ~after))
    says = (
        f"{np.count_nonzero(before)} of {np.count_nonzero(spam)} before, "
        f"{np.count_nonzero(after)} after"
    )
    passed = more - fewer <= 2 * np.sqrt(more + fewer)
    return Check(part=part.name, name="spam called ham", passed=bool(passed), says=says)


def _unsure(part: Part, criteria: Criteria) -> Check:
    before, after = (
        float(np.mean(~scored.called_spam & ~scored.called_ham))
        for scored in (part.current, part.candidate)
    )
    return Check(
        part=part.name,
        name="left to a person",
        passed=after <= before + criteria.unsure_tolerance,
        says=f"{before:.1%} before, {after:.1%} after",
    )


def _slice_checks(part: Part, kind: str, value: str, criteria: Criteria) -> Iterator[Check]:
    rows = np.array([one == value for one in part.slices[kind]])
    n_spam = int(np.count_nonzero(rows & part.is_spam))
    n_ham = int(np.count_nonzero(rows & ~part.is_spam))
    if n_ham >= criteria.min_slice:
        yield _ham_lost(part, f"ham called spam, {kind} {value}", rows)
    if n_spam >= criteria.min_slice:
        low, high = recall_difference(
            part, criteria, rate=criteria.max_false_positive_rate, rows=rows
        )
        yield Check(
            part=part.name,
            name=f"recall, {kind} {value}",
            passed=low >= -criteria.slice_recall_tolerance,
            says=f"difference {low:+.3f} to {high:+.3f} over {n_spam} spam",
        )


def recall_difference(
    part: Part, criteria: Criteria, *, rate: float, rows: BoolArray | None = None
) -> tuple[float, float]:
    """Return an interval for the candidate's recall less the current one's, on the same spam.

    Each version's threshold is where it loses at most `rate` of all the part's ham. A paired
    bootstrap over the spam (Efron and Tibshirani 1993, chapter 13, percentiles): both versions see
    the same resampled comments, so what they share cancels out.
    """
    caught = [
        _caught(part.is_spam, scored.p_spam, rate) for scored in (part.candidate, part.current)
    ]
    spam = part.is_spam if rows is None else part.is_spam & rows
    difference = caught[0][spam].astype(np.float64) - caught[1][spam]
    random = np.random.default_rng(criteria.seed)
    n = difference.size
    means = [float(difference[random.integers(0, n, n)].mean()) for _ in range(criteria.resamples)]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def _caught(is_spam: BoolArray, p_spam: FloatArray, rate: float) -> BoolArray:
    point = recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=rate)
    return p_spam >= point.threshold


def _gains(part: Part, criteria: Criteria) -> Iterator[str]:
    """Yield in words what is better beyond chance."""
    low, high = recall_difference(part, criteria, rate=criteria.max_false_positive_rate)
    if low > 0:
        yield f"{part.name}: recall {low:+.3f} to {high:+.3f}"
    ham = ~part.is_spam
    fewer = int(np.count_nonzero(part.current.called_spam & ham & ~part.candidate.called_spam))
    more = int(np.count_nonzero(part.candidate.called_spam & ham & ~part.current.called_spam))
    if fewer - more > 2 * np.sqrt(fewer + more):
        yield f"{part.name}: {fewer - more} fewer ham called spam"
    before, after = (
        float(np.mean(~scored.called_spam & ~scored.called_ham))
        for scored in (part.current, part.candidate)
    )
    if before - after > criteria.unsure_tolerance:
        yield f"{part.name}: {before - after:.1%} fewer left to a person"


def _gains_on_few(held: Part, core: Part, criteria: Criteria) -> Iterator[str]:
    """Yield in words what is better beyond chance on spam that neither version learnt.

    Few decisions have too little ham to choose a threshold by, so each version's lies where it
    loses at most the stated share of the core's ham. McNemar, two standard errors.
    """
    rate = criteria.max_false_positive_rate
    thresholds = [
        recall_at_false_positive_rate(
            core.is_spam, scored.p_spam, max_false_positive_rate=rate
        ).threshold
        for scored in (core.candidate, core.current)
    ]
    ways = (
        (
            f"caught where {rate:.1%} of the core's ham are lost",
            held.candidate.p_spam >= thresholds[0],
            held.current.p_spam >= thresholds[1],
        ),
        ("called spam", held.candidate.called_spam, held.current.called_spam),
    )
    for said, after, before in ways:
        more = int(np.count_nonzero(after & ~before & held.is_spam))
        fewer = int(np.count_nonzero(before & ~after & held.is_spam))
        if more - fewer > 2 * np.sqrt(more + fewer):
            counts = f"{np.count_nonzero(before & held.is_spam)} before, "
            counts += f"{np.count_nonzero(after & held.is_spam)} after"
            yield f"{held.name}: of {np.count_nonzero(held.is_spam)} spam {said} {counts}"


def _names(parts: Sequence[Part], chosen: Sequence[BoolArray]) -> tuple[str, ...]:
    return tuple(
        part.ids[int(i)]
        for part, rows in zip(parts, chosen, strict=True)
        for i in np.flatnonzero(rows)
    )
