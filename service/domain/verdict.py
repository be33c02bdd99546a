"""A comment's verdict, and the evidence that it rests on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from service.domain.comment import CommentId
from service.domain.list_entry import Effect, Instruction
from service.domain.rules import Rule


class Outcome(StrEnum):
    """The three things a verdict can conclude."""

    HAM = "ham"
    UNSURE = "unsure"
    SPAM = "spam"


_OUTCOME_OF = {Effect.ALLOW: Outcome.HAM, Effect.BLOCK: Outcome.SPAM}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open segment `[start, end)` of the comment's text, in Python string offsets."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"a span needs 0 <= start < end, got [{self.start}, {self.end})")


def span_pairs(spans: Iterable[Span]) -> list[list[int]]:
    return [[span.start, span.end] for span in spans]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """One named piece of evidence: what was found and where, without a judgement.

    `strength` is in (0, 1]; `reason` is a clause that a moderator understands without a manual, and
    never quotes the comment. `boundaries` are the offsets at which one kind of text changes to
    another, ascending, none of them 0; most signals have none.
    """

    name: str
    strength: float
    reason: str
    spans: tuple[Span, ...] = ()
    boundaries: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 < self.strength <= 1.0:
            raise ValueError(f"signal {self.name}: strength must be in (0, 1], got {self.strength}")
        if any(a >= b for a, b in pairwise((0, *self.boundaries))):
            msg = f"signal {self.name}: boundaries must ascend from 1, got {self.boundaries}"
            raise ValueError(msg)


# The docstring is published in /openapi.json.
class WeightKind(StrEnum):
    """By which right a signal weighs what it does.

    Fitted on labelled comments; set by judgement, within a bound; or learnt here, from decisions of
    this installation.
    """

    FITTED = "fitted"
    SET = "set"
    LEARNT = "learnt"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedSignal:
    """A signal with its contribution to the score: weight x strength, in log-odds.

    `kind` is None without a weight, and in old verdicts; `decisions` are behind a learnt weight.
    """

    signal: Signal
    weight: float
    contribution: float
    kind: WeightKind | None = None
    decisions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOpinion:
    """A second judge's opinion of an unsure comment. The comment may have dictated it."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The machine's conclusion, which is final; later decisions do not change it.

    `score` is in log-odds and is exactly `base + model_contribution + sum of contributions`;
    `p_spam` is its logistic function. `model_p_spam` is the classifier's own probability, None if
    it was unavailable. `degraded_by` names missing evidence; a degraded verdict is always unsure.
    `instruction` is the moderators' entry that matched: the outcome follows it unless the verdict
    is degraded, score and evidence stay. `held_by` are the rules that made ham unsure.
    """

    comment_id: CommentId
    outcome: Outcome
    p_spam: float
    score: float
    base: float
    model_p_spam: float | None
    model_contribution: float
    signals: tuple[WeighedSignal, ...]
    promo_spans: tuple[Span, ...]
    model_version: str
    ham_cutoff: float
    spam_cutoff: float
    judged_at: datetime
    degraded_by: tuple[str, ...] = ()
    instruction: Instruction | None = None
    held_by: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_spam <= 1.0 or math.isnan(self.p_spam):
            raise ValueError(f"p_spam must be in [0, 1], got {self.p_spam}")
        if (self.degraded_by or self.held_by) and self.outcome is not Outcome.UNSURE:
            raise ValueError(f"a degraded or held verdict must be unsure, got {self.outcome}")
        followed = self.followed
        if followed and self.outcome is not _OUTCOME_OF[followed.effect]:
            msg = f"a verdict that follows {followed.effect} entries cannot be {self.outcome}"
            raise ValueError(msg)

    @property
    def degraded(self) -> bool:
        return bool(self.degraded_by)

    @property
    def followed(self) -> Instruction | None:
        """Return the instruction that decided the outcome, None if the evidence did."""
        return None if self.degraded or self.held_by else self.instruction
