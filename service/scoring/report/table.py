"""Collects judged comments as columns, a few dozen bytes each, however many there are."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from service.domain.comment import CommentId
from service.domain.verdict import Outcome, Verdict
from service.scoring.metrics import Flags, Scores

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
    """What a data file says about a comment, beside its content. `is_spam` None: no label."""

    is_spam: bool | None
    slices: Mapping[SliceBy, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A comment whose outcome is the opposite of its label."""

    id: CommentId
    source: str
    kind: str
    p_spam: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Slicing:
    """One value a comment: `names[codes[i]]` is the slice that comment i belongs to."""

    codes: NDArray[np.int32]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Judged comments that have a label, as parallel columns.

    `outcome` holds positions in `OUTCOMES`; `model_p_spam` is NaN where the model was away.
    """

    is_spam: Flags
    p_spam: Scores
    model_p_spam: Scores
    outcome: NDArray[np.int8]
    degraded: Flags
    slicings: Mapping[SliceBy, Slicing]


class ScoreCollector:
    """Takes judged comments one by one and keeps only what the report needs."""

    def __init__(self) -> None:
        self._is_spam, self._degraded = array("b"), array("b")
        self._p_spam, self._model_p_spam = array("d"), array("d")
        self._outcome = array("b")
        self._slicings = {by: _SlicingCollector() for by in SliceBy}
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
        self._is_spam.append(facts.is_spam)
        self._degraded.append(verdict.degraded)
        self._p_spam.append(verdict.p_spam)
        self._model_p_spam.append(
            math.nan if verdict.model_p_spam is None else verdict.model_p_spam
        )
        self._outcome.append(OUTCOMES.index(verdict.outcome))
        for by, slicing in self._slicings.items():
            slicing.add(facts.slices[by])
        for part in verdict.signals:
            self.fired.setdefault(part.signal.name, Counter())[facts.is_spam] += 1
        self._note_mistake(verdict, facts)

    def table(self) -> ScoreTable:
        """Return all labelled comments taken so far, as columns."""
        return ScoreTable(
            is_spam=np.array(self._is_spam, dtype=np.bool_),
            p_spam=np.array(self._p_spam, dtype=np.float64),
            model_p_spam=np.array(self._model_p_spam, dtype=np.float64),
            outcome=np.array(self._outcome, dtype=np.int8),
            degraded=np.array(self._degraded, dtype=np.bool_),
            slicings={by: slicing.slicing() for by, slicing in self._slicings.items()},
        )

    def _note_mistake(self, verdict: Verdict, facts: Facts) -> None:
        opposite = Outcome.HAM if facts.is_spam else Outcome.SPAM
        if verdict.outcome is not opposite:
            return
        mistakes = self.spam_missed if facts.is_spam else self.ham_lost
        mistakes.append(
            Mistake(
                id=verdict.comment_id,
                source=facts.slices[SliceBy.SOURCE],
                kind=facts.slices[SliceBy.KIND],
                p_spam=verdict.p_spam,
            )
        )


class _SlicingCollector:
    def __init__(self) -> None:
        self._codes = array("i")
        self._numbers: dict[str, int] = {}

    def add(self, name: str) -> None:
        short = name[:MAX_SLICE_NAME_CHARS]
        if short not in self._numbers and len(self._numbers) >= MAX_SLICES:
            short = OTHER
        self._codes.append(self._numbers.setdefault(short, len(self._numbers)))

    def slicing(self) -> Slicing:
        return Slicing(codes=np.array(self._codes, dtype=np.int32), names=tuple(self._numbers))
