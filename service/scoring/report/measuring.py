"""Collects judged comments as rows, and measures them: all together, then slice by slice."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np
from numpy.typing import NDArray

from service.domain.comment import CommentId
from service.domain.verdict import Outcome, Verdict
from service.scoring.cutoffs import clopper_pearson
from service.scoring.metrics import (
    Bin,
    Flags,
    OperatingPoint,
    Scores,
    at_threshold,
    brier_score,
    recall_at_false_positive_rate,
    reliability_table,
    roc_auc,
    roc_auc_interval,
)
from service.scoring.period import MIN_COUNT, Share, share_of
from service.scoring.weights import Weights, weigh_signal

OUTCOMES = (Outcome.HAM, Outcome.UNSURE, Outcome.SPAM)
NOT_STATED = "not stated"
OTHER = "(other)"
# A report with more rows than this is read by nobody, and a file with a fresh kind on every line
# must not fill the memory.
MAX_SLICES = 200
MAX_SLICE_NAME_CHARS = 60


class SliceBy(StrEnum):
    """What comments are sliced by, in the order of the report."""

    SOURCE = "source"
    KIND = "kind"
    LANGUAGE = "language"
    HARDNESS = "hardness"
    LENGTH = "length"


LENGTH_BUCKETS = ("0-49", "50-199", "200-499", "500-1499", "1500 and more")
_LENGTH_STARTS = (50, 200, 500, 1500)


def length_bucket(text: str) -> str:
    """Return the bucket, in characters, that a text's length falls into."""
    return LENGTH_BUCKETS[sum(len(text) >= start for start in _LENGTH_STARTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A data file's facts about a comment; `is_spam` is None without a label."""

    is_spam: bool | None
    slices: Mapping[SliceBy, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A comment whose outcome is the opposite of its label."""

    id: CommentId
    source: str
    kind: str
    p_spam: float


# `outcome` is a position in `OUTCOMES`; `model_p_spam` is NaN where the model was away.
_ROW = np.dtype(
    [
        ("is_spam", np.bool_),
        ("p_spam", np.float64),
        ("model_p_spam", np.float64),
        ("outcome", np.int8),
        ("degraded", np.bool_),
    ]
)
Rows = NDArray[np.void]


class ScoreCollector:
    """Takes judged comments one by one and keeps only what the report needs."""

    def __init__(self) -> None:
        self._rows: list[tuple[bool, float, float, int, bool]] = []
        # The numbers of the rows in each slice, the slice that was seen first first.
        self.slices: dict[SliceBy, dict[str, array[int]]] = {by: {} for by in SliceBy}
        self.ham_lost: list[Mistake] = []
        self.spam_missed: list[Mistake] = []
        self.unlabelled: dict[str, Counter[Outcome]] = {}
        self.fired: dict[str, Counter[bool]] = {}

    def add(self, verdict: Verdict, facts: Facts) -> None:
        """Take one comment. Without a label it only counts towards `unlabelled`, by source."""
        if facts.is_spam is None:
            source = facts.slices[SliceBy.SOURCE]
            known = source in self.unlabelled or len(self.unlabelled) < MAX_SLICES
            self.unlabelled.setdefault(source if known else OTHER, Counter())[verdict.outcome] += 1
            return
        for by, slices in self.slices.items():
            name = facts.slices[by][:MAX_SLICE_NAME_CHARS]
            known = name in slices or len(slices) < MAX_SLICES
            slices.setdefault(name if known else OTHER, array("i")).append(len(self._rows))
        model_p_spam = math.nan if verdict.model_p_spam is None else verdict.model_p_spam
        outcome = OUTCOMES.index(verdict.outcome)
        self._rows.append((facts.is_spam, verdict.p_spam, model_p_spam, outcome, verdict.degraded))
        for part in verdict.signals:
            self.fired.setdefault(part.signal.name, Counter())[facts.is_spam] += 1
        if verdict.outcome is (Outcome.HAM if facts.is_spam else Outcome.SPAM):
            mistakes = self.spam_missed if facts.is_spam else self.ham_lost
            mistakes.append(
                Mistake(
                    id=verdict.comment_id,
                    source=facts.slices[SliceBy.SOURCE],
                    kind=facts.slices[SliceBy.KIND],
                    p_spam=verdict.p_spam,
                )
            )

    def rows(self) -> Rows:
        """Return all labelled comments taken so far, in the columns of `_ROW`."""
        return np.array(self._rows, dtype=_ROW)


FALSE_POSITIVE_RATES = (0.001, 0.005, 0.01, 0.05)


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """An area under the ROC curve with its 95 % interval."""

    auc: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Recall where at most `max_false_positive_rate` of the ham is called spam.

    `threshold` is None where no threshold keeps that promise and nothing is called spam.
    """

    max_false_positive_rate: float
    threshold: float | None
    recall: Share
    false_positive_rate: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """How good one kind of p_spam is. A figure is None if there are too few comments for it.

    `points` has one entry for each of `FALSE_POSITIVE_RATES`, by thresholds of its own.
    """

    n: int
    roc_auc: Area | None
    points: tuple[Point | None, ...]
    brier: float | None
    reliability: tuple[Bin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """What became of ham and spam at the cutoffs of the version that judged."""

    ham: Mapping[Outcome, int]
    spam: Mapping[Outcome, int]
    false_positive_rate: Share
    spam_caught: Share
    spam_missed: Share
    ham_unsure: Share
    spam_unsure: Share
    unsure: Share
    precision: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceReport:
    """All figures of one slice; `shared_points` uses the thresholds set on all slices together."""

    name: str
    n: int
    n_ham: int
    n_spam: int
    n_degraded: int
    prevalence: float | None
    verdict: Ranking
    model: Ranking
    confusion: Confusion
    shared_points: tuple[Point | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalReport:
    """How often a signal was found, and what it weighs before any decision."""

    name: str
    weight: float
    on_ham: Share
    on_spam: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """Everything measured. Mistakes are listed worst first."""

    overall: SliceReport
    slices: Mapping[SliceBy, tuple[SliceReport, ...]]
    signals: tuple[SignalReport, ...]
    ham_lost: tuple[Mistake, ...]
    spam_missed: tuple[Mistake, ...]
    unlabelled: Mapping[str, Mapping[Outcome, int]]


def measure(collected: ScoreCollector, weights: Weights) -> Measurements:
    """Return every figure over the labelled comments collected."""
    rows = collected.rows()
    thresholds = [
        None if p is None else math.inf if p.threshold is None else p.threshold
        for p in _points(rows["is_spam"], rows["p_spam"])
    ]
    overall = _slice("all", rows, thresholds)
    return Measurements(
        overall=overall,
        slices={
            by: tuple(
                _slice(name, rows[np.array(slices[name])], thresholds)
                for name in _ordered(by, slices)
            )
            for by, slices in collected.slices.items()
        },
        signals=_signals(collected.fired, weights, n_ham=overall.n_ham, n_spam=overall.n_spam),
        ham_lost=tuple(sorted(collected.ham_lost, key=lambda m: (-m.p_spam, m.id))),
        spam_missed=tuple(sorted(collected.spam_missed, key=lambda m: (m.p_spam, m.id))),
        unlabelled={source: dict(c) for source, c in sorted(collected.unlabelled.items())},
    )


# Its interval is never too narrow: this is the costly mistake.
_false_positive_rate = partial(share_of, interval=clopper_pearson)


def _ordered(by: SliceBy, slices: Mapping[str, Sequence[int]]) -> list[str]:
    if by is SliceBy.LENGTH:
        return sorted(slices, key=LENGTH_BUCKETS.index)
    if by in (SliceBy.SOURCE, SliceBy.HARDNESS):
        return sorted(slices)
    return sorted(slices, key=lambda name: (-len(slices[name]), name))


def _slice(name: str, rows: Rows, thresholds: Sequence[float | None]) -> SliceReport:
    is_spam, p_spam, model_p_spam = rows["is_spam"], rows["p_spam"], rows["model_p_spam"]
    answered = ~np.isnan(model_p_spam)
    n, n_spam = int(is_spam.size), int(np.count_nonzero(is_spam))
    return SliceReport(
        name=name,
        n=n,
        n_ham=n - n_spam,
        n_spam=n_spam,
        n_degraded=int(np.count_nonzero(rows["degraded"])),
        prevalence=n_spam / n if n else None,
        verdict=_ranking(is_spam, p_spam),
        model=_ranking(is_spam[answered], model_p_spam[answered]),
        confusion=_confusion(is_spam, rows["outcome"]),
        shared_points=tuple(
            None if t is None else _point(rate, at_threshold(is_spam, p_spam, t))
            for rate, t in zip(FALSE_POSITIVE_RATES, thresholds, strict=True)
        ),
    )


def _ranking(is_spam: Flags, p_spam: Scores) -> Ranking:
    n_spam = int(np.count_nonzero(is_spam))
    area = None
    if min(n_spam, is_spam.size - n_spam) >= MIN_COUNT:
        low, high = roc_auc_interval(is_spam, p_spam)
        area = Area(auc=roc_auc(is_spam, p_spam), low=low, high=high)
    return Ranking(
        n=int(is_spam.size),
        roc_auc=area,
        points=_points(is_spam, p_spam),
        brier=brier_score(is_spam, p_spam) if is_spam.size >= MIN_COUNT else None,
        reliability=reliability_table(is_spam, p_spam),
    )


def _points(is_spam: Flags, p_spam: Scores) -> tuple[Point | None, ...]:
    n_spam = int(np.count_nonzero(is_spam))
    n_ham = int(is_spam.size) - n_spam
    return tuple(
        # A rate below one ham in n_ham can only be kept by losing none: that is another promise.
        _point(rate, recall_at_false_positive_rate(is_spam, p_spam, max_false_positive_rate=rate))
        if n_spam >= MIN_COUNT and n_ham >= max(MIN_COUNT, round(1 / rate))
        else None
        for rate in FALSE_POSITIVE_RATES
    )


def _point(rate: float, point: OperatingPoint) -> Point:
    return Point(
        max_false_positive_rate=rate,
        threshold=point.threshold if math.isfinite(point.threshold) else None,
        recall=share_of(point.spam_caught, point.n_spam),
        false_positive_rate=_false_positive_rate(point.ham_lost, point.n_ham),
    )


def _confusion(is_spam: Flags, outcome: np.ndarray) -> Confusion:
    ham, spam = (
        {o: int(c) for o, c in zip(OUTCOMES, np.bincount(part, minlength=3), strict=True)}
        for part in (outcome[~is_spam], outcome[is_spam])
    )
    n_ham, n_spam = sum(ham.values()), sum(spam.values())
    return Confusion(
        ham=ham,
        spam=spam,
        false_positive_rate=_false_positive_rate(ham[Outcome.SPAM], n_ham),
        spam_caught=share_of(spam[Outcome.SPAM], n_spam),
        spam_missed=share_of(spam[Outcome.HAM], n_spam),
        ham_unsure=share_of(ham[Outcome.UNSURE], n_ham),
        spam_unsure=share_of(spam[Outcome.UNSURE], n_spam),
        unsure=share_of(ham[Outcome.UNSURE] + spam[Outcome.UNSURE], n_ham + n_spam),
        precision=share_of(spam[Outcome.SPAM], ham[Outcome.SPAM] + spam[Outcome.SPAM]),
    )


def _signals(
    fired: Mapping[str, Counter[bool]], weights: Weights, *, n_ham: int, n_spam: int
) -> tuple[SignalReport, ...]:
    reports = [
        SignalReport(
            name=name,
            weight=weigh_signal(name, weights).weight,
            on_ham=share_of(counts[False], n_ham),
            on_spam=share_of(counts[True], n_spam),
        )
        for name, counts in fired.items()
    ]
    return tuple(sorted(reports, key=lambda s: (-s.on_spam.count - s.on_ham.count, s.name)))
