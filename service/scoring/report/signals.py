"""Counts what every detector was worth: on spam, on ham, alone, and beside the model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from service.domain.verdict import Verdict, WeightKind
from service.scoring.holding import HELD_BACK
from service.scoring.model_signals import LLM_VOICE
from service.scoring.report.figures import share_of
from service.scoring.report.table import MAX_SLICE_NAME_CHARS, MAX_SLICES, OTHER
from service.scoring.seam import PROMOTION_SEAM
from service.scoring.set_weights import SET_WEIGHTS
from service.scoring.shares import Share
from service.scoring.weighing import (
    NOTHING_LEARNT,
    LearntHere,
    Weighing,
    set_weight_of,
    weigh_signal,
)
from service.scoring.weights import Weights

# Why what has no weight is recorded all the same.
_FOUND_NO_WEIGHT = (
    "Recorded and shown to moderators: the fit found it to add nothing to the classifier, or too "
    "rare to tell."
)
_NO_WEIGHT = {
    HELD_BACK: "Takes off again what evidence beside the words may not add alone.",
    LLM_VOICE: "Recorded: a machine's voice is no intent, and honest people polish their remarks.",
    PROMOTION_SEAM: "Recorded: it shows where a remark turns into an advertisement.",
}
# 97.5 % point of the normal distribution, for intervals of 95 %.
_Z = 1.959964


class ModelSays(StrEnum):
    """What the classifier alone would conclude at the version's cutoffs."""

    HAM = "ham"
    UNSURE = "unsure"
    SPAM = "spam"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSignal:
    """A signal to report on even where it never fires; `needs` is what a data file lacks."""

    name: str
    needs: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A likelihood ratio, spam over ham, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRow:
    """How often a signal was found in one source."""

    source: str
    on_spam: Share
    on_ham: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRow:
    """What one signal was worth.

    `weight` is what it counts by now; `set_weight` what it counted before `decisions` moved it,
    None where the weight is fitted. `says` is a sentence on why it weighs that.
    `points_to` is the label of which it was found on the larger share, None where it never was.
    `alone` counts the comments of both labels on which no other signal that points the same way
    was found. Of the comments of the label pointed to on which it was found and the model
    answered, `model_agrees` are those that the model alone calls so, and `adds` the rest.
    """

    name: str
    needs: str | None
    weight: float
    set_weight: float | None
    decisions: int
    says: str
    on_spam: Share
    on_ham: Share
    points_to: str | None
    likelihood_ratio: Ratio | None
    alone_on_spam: int
    alone_on_ham: int
    model_agrees: Share
    adds: Share
    adds_against_the_model: int
    sources: tuple[SourceRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalMeasurements:
    """Every signal's row, those found most often first, and what was counted."""

    n_spam: int
    n_ham: int
    n_unlabelled: int
    sources: Mapping[str, tuple[int, int]]
    rows: tuple[SignalRow, ...]


@dataclass(frozen=True, slots=True)
class _Case:
    fired: frozenset[str]
    is_spam: bool
    source: str
    model: ModelSays


class SignalCollector:
    """Takes judged comments one by one and counts equal cases, of which there are few."""

    def __init__(self) -> None:
        self.cases: Counter[_Case] = Counter()
        self.n_unlabelled = 0
        self._sources: set[str] = set()

    def add(self, verdict: Verdict, *, is_spam: bool | None, source: str) -> None:
        """Take one comment; without a label it is only counted."""
        if is_spam is None:
            self.n_unlabelled += 1
            return
        short = source[:MAX_SLICE_NAME_CHARS]
        if short not in self._sources and len(self._sources) >= MAX_SLICES:
            short = OTHER
        self._sources.add(short)
        fired = frozenset(part.signal.name for part in verdict.signals)
        self.cases[_Case(fired, is_spam, short, _model_says(verdict))] += 1


def measure_signals(
    collected: SignalCollector,
    *,
    known: Iterable[KnownSignal],
    weights: Weights,
    learnt: LearntHere = NOTHING_LEARNT,
) -> SignalMeasurements:
    """Return what every known or found signal was worth; `learnt` is what decisions moved."""
    needs = {signal.name: signal.needs for signal in known}
    names = {*needs, *(name for case in collected.cases for name in case.fired)}
    counted = _Counted(collected.cases, names)
    rows = [
        _row(
            name,
            counted,
            needs=needs.get(name),
            weighing=weigh_signal(name, weights, learnt),
            set_weight=set_weight_of(name, weights),
        )
        for name in names
    ]
    return SignalMeasurements(
        n_spam=counted.n_spam,
        n_ham=counted.n_ham,
        n_unlabelled=collected.n_unlabelled,
        sources=dict(sorted(counted.by_source.items())),
        rows=tuple(sorted(rows, key=lambda r: (-r.on_spam.count - r.on_ham.count, r.name))),
    )


class _Counted:
    """The cases by signal, the totals by source, and which way each signal points."""

    def __init__(self, cases: Mapping[_Case, int], names: Collection[str]) -> None:
        self.by_source: dict[str, tuple[int, int]] = {}
        self.found: dict[str, list[tuple[_Case, int]]] = {name: [] for name in names}
        for case, n in cases.items():
            spam, ham = self.by_source.get(case.source, (0, 0))
            self.by_source[case.source] = (spam + n * case.is_spam, ham + n * (not case.is_spam))
            for name in case.fired:
                self.found[name].append((case, n))
        self.n_spam = sum(spam for spam, _ in self.by_source.values())
        self.n_ham = sum(ham for _, ham in self.by_source.values())
        self.points_to = {name: self._points_to(name) for name in names}

    def count(self, name: str, *, is_spam: bool, source: str | None = None) -> int:
        return sum(
            n
            for case, n in self.found[name]
            if case.is_spam is is_spam and source in (None, case.source)
        )

    def _points_to(self, name: str) -> str | None:
        spam, ham = (self.count(name, is_spam=is_spam) for is_spam in (True, False))
        if not spam + ham:
            return None
        return "spam" if spam * max(self.n_ham, 1) >= ham * max(self.n_spam, 1) else "ham"


def _row(
    name: str,
    counted: _Counted,
    *,
    needs: str | None,
    weighing: Weighing,
    set_weight: float | None,
) -> SignalRow:
    on_spam, on_ham = (counted.count(name, is_spam=is_spam) for is_spam in (True, False))
    points_to = counted.points_to[name]
    same_way = {other for other, way in counted.points_to.items() if way == points_to} - {name}
    alone = [(case, n) for case, n in counted.found[name] if case.fired.isdisjoint(same_way)]
    model = _model_beside(counted.found[name], points_to)
    n_answered = sum(model.values())
    agrees = model[ModelSays(points_to)] if points_to else 0
    against = ModelSays.HAM if points_to == "spam" else ModelSays.SPAM
    return SignalRow(
        name=name,
        needs=needs,
        weight=weighing.weight,
        set_weight=set_weight,
        decisions=weighing.decisions,
        says=_why(name, weighing),
        on_spam=share_of(on_spam, counted.n_spam),
        on_ham=share_of(on_ham, counted.n_ham),
        points_to=points_to,
        likelihood_ratio=_ratio(on_spam, counted.n_spam, on_ham, counted.n_ham),
        alone_on_spam=sum(n for case, n in alone if case.is_spam),
        alone_on_ham=sum(n for case, n in alone if not case.is_spam),
        model_agrees=share_of(agrees, n_answered),
        adds=share_of(n_answered - agrees, n_answered),
        adds_against_the_model=model[against],
        sources=_by_source(name, counted),
    )


def _why(name: str, weighing: Weighing) -> str:
    """Return a sentence on why a signal weighs what it does."""
    known = SET_WEIGHTS.get(name)
    if weighing.kind is WeightKind.FITTED:
        return "Fitted on labelled comments."
    if known is None or weighing.kind is None:
        return _NO_WEIGHT.get(name, _FOUND_NO_WEIGHT)
    because = f"{known.reason} ({known.source})"
    if weighing.kind is WeightKind.SET:
        return f"Set: {because}."
    return f"Learnt from {weighing.decisions:,} decisions here, set because {because}."


def _model_beside(found: Sequence[tuple[_Case, int]], points_to: str | None) -> Counter[ModelSays]:
    """Count what the model alone says of the comments that a signal was right about."""
    says: Counter[ModelSays] = Counter()
    for case, n in found:
        if case.is_spam is (points_to == "spam") and case.model is not ModelSays.NOTHING:
            says[case.model] += n
    return says


def _by_source(name: str, counted: _Counted) -> tuple[SourceRow, ...]:
    rows = []
    for source in sorted({case.source for case, _ in counted.found[name]}):
        n_spam, n_ham = counted.by_source[source]
        on_spam, on_ham = (
            counted.count(name, is_spam=is_spam, source=source) for is_spam in (True, False)
        )
        rows.append(
            SourceRow(
                source=source, on_spam=share_of(on_spam, n_spam), on_ham=share_of(on_ham, n_ham)
            )
        )
    return tuple(rows)


def _ratio(on_spam: int, n_spam: int, on_ham: int, n_ham: int) -> Ratio | None:
    """Return P(found | spam) / P(found | ham), half a comment added to every count.

    The interval is that of Katz and others 1978 (Biometrics 34:469-474) on the log scale. None
    where the signal was never found or a label does not occur.
    """
    if not (on_spam + on_ham and n_spam and n_ham):
        return None
    spam, ham = on_spam + 0.5, on_ham + 0.5
    log_ratio = math.log(spam / (n_spam + 0.5)) - math.log(ham / (n_ham + 0.5))
    variance = 1 / spam - 1 / (n_spam + 0.5) + 1 / ham - 1 / (n_ham + 0.5)
    spread = _Z * math.sqrt(max(variance, 0.0))
    return Ratio(
        value=math.exp(log_ratio),
        low=math.exp(log_ratio - spread),
        high=math.exp(log_ratio + spread),
    )


def _model_says(verdict: Verdict) -> ModelSays:
    if verdict.model_p_spam is None:
        return ModelSays.NOTHING
    if verdict.model_p_spam >= verdict.spam_cutoff:
        return ModelSays.SPAM
    return ModelSays.HAM if verdict.model_p_spam < verdict.ham_cutoff else ModelSays.UNSURE
