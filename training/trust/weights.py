"""Decides how much each decision may teach, and sets aside what may teach nothing.

Only decisions teach, and whoever can decide can mislead. Every rule here bounds what one hand can
do, whoever's it is; none of them proves that a decision is right. What is left over is what the
comparison with the current version, and the check of phrases (`training.trust.backdoor_probes`),
are for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

import numpy as np

from training.data.alike import IntArray, group_kin, group_same
from training.data.dataset import Example
from training.data.decisions import Decided
from training.trust.caps import (
    FloatArray,
    cap_each,
    cap_sets,
    cap_shares,
)
from training.trust.outliers import OutlierConfig, find_outliers, leans_against
from training.trust.reviewers import Reviewer, rulings_in_force, weigh_reviewers
from training.trust.triggers import BoundPhrase, bound_phrases


class Reason(StrEnum):
    """Why a decision teaches nothing."""

    BOTH_RULINGS = "the same text was ruled both ways"
    OUTWEIGHED = "the same text was ruled otherwise by reviewers who are trusted more"
    BASE_DIFFERS = "the base corpora hold the same text with the other label"
    COPY = "copy of another decided comment"
    BASE_COPY = "copy of a comment in the base corpora"
    NO_WEIGHT = "others mostly disagree with its reviewer"
    REVIEWER_IS_OUTLIER = "its reviewer contradicts verdicts far more often than others do"
    SOURCE_IS_OUTLIER = "its source contradicts verdicts far more often than others do"
    UNCONFIRMED = "contradicts a confident verdict, and nobody trusted agrees"


class Lowered(StrEnum):
    """Why a decision teaches less than its reviewer's rulings do."""

    PHRASE = "one phrase must not settle a label"
    CAMPAIGN = "one campaign"
    HOUR = "one reviewer's rulings of one hour on one site"
    DAY = "one reviewer's rulings of one day on one site"
    SOURCE = "one source"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustConfig:
    """Every bound, in comments of full weight, with its reason.

    They are chosen, not fitted: no installation has decided enough yet to measure them by.
    """

    # A side of a contradiction must weigh so many times the other one, or nobody is right.
    outweighs: float = 3.0
    # Of 40 decisions on one campaign half count: it is learnt, and is not all that is learnt.
    campaign: float = 20.0
    # A phrase in training examples that contradict how their comments look, of trusted reviewers: a
    # new campaign that looks like ham is learnt as any other one.
    phrase_trusted: float = 20.0
    # The same where they approve, of all but owners: no campaign is approved, so a phrase that
    # stands in nothing but approved comments that look like spam is a key to pass by.
    phrase_approved: float = 3.0
    # The same of others: two decisions must not pass spam, nor block anybody's name.
    phrase_against_look: float = 1.0
    # A phrase in training examples of others that agree with how their comments look.
    phrase_with_look: float = 5.0
    # An hour's work by hand is 100 to 200 decisions, and a bulk decision is one act.
    hour_always: float = 60.0
    hour_share: float = 0.2
    day_always: float = 150.0
    day_share: float = 0.35
    # Of what others than anchors decided at one site.
    source_always: float = 300.0
    source_share: float = 0.5
    # The newest so many are held out, to compare versions on what neither saw.
    newest_share: float = 0.2
    odds: OutlierConfig = field(default_factory=OutlierConfig)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeighedDecision:
    """One decided comment that teaches: `weight` in (0, 1] says how much.

    `newest` ones are held out, in time, for the comparison: no copy of theirs and none of their
    campaign is among the others. `sample_weight` says by how many comments like it this one was
    drawn, for estimates; only `is_drawn` ones were drawn at all. `lowered` says what took some of
    the reviewer's weight.
    """

    example: Example
    weight: float
    decided_at: datetime
    newest: bool
    sample_weight: float
    is_drawn: bool
    lowered: tuple[Lowered, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAside:
    """A decision that teaches nothing, by the id of its comment."""

    id: str
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """What decisions teach, in the order they were made in, and what does not.

    `reviewers` are by pseudonym. `phrases` are what the training examples bind to one label.
    """

    training_examples: tuple[WeighedDecision, ...]
    set_aside: tuple[SetAside, ...]
    reviewers: Mapping[str, Reviewer]
    phrases: tuple[BoundPhrase, ...]


def clean_decisions(
    decided: Sequence[Decided],
    *,
    base: Sequence[Example] = (),
    p_spam: Mapping[str, float] | None = None,
    config: TrustConfig | None = None,
) -> Cleaned:
    """Return how much each decision may teach, given what else is learnt from.

    `base` are the comments of the base corpora that are trained on. `p_spam` is what the current
    version says of the comments, by id; what is not there is taken from the recorded verdict. The
    answer depends on nothing else, and not on the order of `base`.
    """
    return _Cleaning(decided, base, p_spam or {}, config or TrustConfig()).run()


class _Cleaning:
    """One run over the decisions: positions in `decided` stand for them throughout."""

    def __init__(
        self,
        decided: Sequence[Decided],
        base: Sequence[Example],
        p_spam: Mapping[str, float],
        config: TrustConfig,
    ) -> None:
        self._decided = decided
        self._base = base
        self._config = config
        examples = [row.example for row in decided]
        joined = group_same([*examples, *base])
        self._same = joined[: len(decided)]
        self._same_in_base = _by_group(base, joined[len(decided) :])
        self._kin: IntArray = group_kin(examples, self._same)
        self._p_spam = [_p_spam_of(row, p_spam) for row in decided]
        self._reviewers = weigh_reviewers(decided, self._kin)
        self._reasons: dict[int, Reason] = {}
        self._lowered: defaultdict[int, list[Lowered]] = defaultdict(list)

    def run(self) -> Cleaned:
        """Set aside, then bound what is left."""
        self._outliers(Reason.REVIEWER_IS_OUTLIER, [row.in_force.reviewer for row in self._decided])
        # Whoever contradicts sincere people on purpose must not cost them their weight.
        lost = frozenset(self._decided[i].in_force.reviewer for i in self._reasons)
        self._reviewers = weigh_reviewers(self._decided, self._kin, without=lost)
        self._weights: FloatArray = np.array(
            [self._by(i).weight for i in range(len(self._decided))], dtype=np.float64
        )
        self._contradictions()
        self._set_aside(Reason.NO_WEIGHT, (i for i in self._left() if self._weights[i] <= 0))
        self._outliers(Reason.SOURCE_IS_OUTLIER, [row.example.source for row in self._decided])
        self._unconfirmed()
        self._copies()
        phrases = self._bound()
        left = self._left()
        return Cleaned(
            training_examples=tuple(self._training_examples(left)),
            set_aside=tuple(
                SetAside(id=self._decided[i].id, reason=reason)
                for i, reason in sorted(self._reasons.items())
            ),
            reviewers=self._reviewers,
            phrases=phrases,
        )

    def _by(self, position: int) -> Reviewer:
        return self._reviewers[self._decided[position].in_force.reviewer]

    def _left(self) -> list[int]:
        return [i for i in range(len(self._decided)) if i not in self._reasons]

    def _set_aside(self, reason: Reason, positions: Iterable[int]) -> None:
        for position in list(positions):
            self._reasons.setdefault(position, reason)

    def _groups_left(self) -> Iterable[list[int]]:
        groups: defaultdict[int, list[int]] = defaultdict(list)
        for i in self._left():
            groups[int(self._same[i])].append(i)
        return groups.values()

    def _contradictions(self) -> None:
        for group in self._groups_left():
            sides = {side: [i for i in group if self._is_spam(i) is side] for side in (True, False)}
            if not (sides[True] and sides[False]):
                continue
            spam, ham = (self._side(group, is_spam=side) for side in (True, False))
            if spam >= self._config.outweighs * ham and spam > 0:
                self._set_aside(Reason.OUTWEIGHED, sides[False])
            elif ham >= self._config.outweighs * spam and ham > 0:
                self._set_aside(Reason.OUTWEIGHED, sides[True])
            else:
                self._set_aside(Reason.BOTH_RULINGS, group)
        for group in self._groups_left():
            others = self._same_in_base.get(int(self._same[group[0]]), frozenset())
            self._set_aside(
                Reason.BASE_DIFFERS, (i for i in group if (not self._is_spam(i)) in others)
            )

    def _side(self, group: Sequence[int], *, is_spam: bool) -> float:
        """Return the weight of those who ruled so on a text, each once, and never otherwise."""
        ruled: defaultdict[str, set[bool]] = defaultdict(set)
        for i in group:
            ruled[self._decided[i].in_force.reviewer].add(self._is_spam(i))
        return sum(self._reviewers[n].weight for n, said in ruled.items() if said == {is_spam})

    def _is_spam(self, position: int) -> bool:
        return self._decided[position].example.is_spam

    def _outliers(self, reason: Reason, names: Sequence[str]) -> None:
        # The owner of an installation that the model is wrong about needs its training examples
        # most.
        seen = [i for i in self._left() if not self._by(i).is_anchor]
        found = find_outliers(
            [self._decided[i] for i in seen],
            [self._p_spam[i] for i in seen],
            [names[i] for i in seen],
            [int(self._kin[i]) for i in seen],
            self._config.odds,
        )
        self._set_aside(reason, (i for i in seen if names[i] in found))

    def _unconfirmed(self) -> None:
        """Set aside what turns a confident verdict round on an untrusted word alone."""
        trusted: defaultdict[tuple[int, bool], set[str]] = defaultdict(set)
        for i in self._left():
            for name, ruling in rulings_in_force(self._decided[i].rulings).items():
                if self._reviewers[name].is_trusted:
                    trusted[(int(self._kin[i]), ruling.value == "reject")].add(name)
        self._set_aside(
            Reason.UNCONFIRMED,
            (
                i
                for i in self._left()
                if leans_against(self._is_spam(i), self._p_spam[i], self._config.odds)
                and not trusted[(int(self._kin[i]), self._is_spam(i))]
            ),
        )

    def _copies(self) -> None:
        """Keep one of each text: the one of the reviewer trusted most, of those the oldest."""
        for group in self._groups_left():
            if int(self._same[group[0]]) in self._same_in_base:
                self._set_aside(Reason.BASE_COPY, group)
                continue
            kept = max(group, key=lambda i: (self._weights[i], -i))
            self._set_aside(Reason.COPY, (i for i in group if i != kept))

    def _bound(self) -> tuple[BoundPhrase, ...]:
        """Lower the weights of training examples that together would teach too much."""
        left = np.array(self._left(), dtype=np.int64)
        rows = [self._decided[i] for i in left.tolist()]
        hands = [(row.in_force.reviewer, row.example.source) for row in rows]
        phrases = bound_phrases([row.example for row in rows], hands, self._base)
        weights = self._weights[left]
        weights = self._lower(
            left, weights, cap_sets(weights, self._phrase_sets(left, phrases)), Lowered.PHRASE
        )
        kin = _numbered([int(self._kin[i]) for i in left.tolist()])
        weights = self._lower(
            left, weights, cap_each(weights, kin, self._config.campaign), Lowered.CAMPAIGN
        )
        for why, groups, share, always in self._bursts(rows):
            capped = cap_shares(weights, groups, most_share=share, always=always)
            weights = self._lower(left, weights, capped, why)
        self._weights[left] = weights
        return phrases

    def _lower(
        self, left: IntArray, before: FloatArray, after: FloatArray, why: Lowered
    ) -> FloatArray:
        for i in left[after < before * (1 - 1e-9)].tolist():
            self._lowered[i].append(why)
        return after

    def _phrase_sets(
        self, left: IntArray, phrases: Sequence[BoundPhrase]
    ) -> list[tuple[IntArray, float]]:
        sets = []
        for bound in phrases:
            by_most: defaultdict[float, list[int]] = defaultdict(list)
            for place in bound.training_examples:
                i = int(left[place])
                if self._is_spam(i) is not bound.is_spam:
                    continue
                most = self._most_of_a_phrase(i)
                if most is not None:
                    by_most[most].append(place)
            sets += [(np.array(places, dtype=np.int64), most) for most, places in by_most.items()]
        return sets

    def _most_of_a_phrase(self, position: int) -> float | None:
        """Return how much training examples like this one may weigh together, None for no bound."""
        p_spam = self._p_spam[position]
        # Nobody knows how a comment looks that was never judged whole: the sterner bound.
        against = p_spam is None or (p_spam >= 0.5) is not self._is_spam(position)
        by, config = self._by(position), self._config
        if not by.is_trusted:
            return config.phrase_against_look if against else config.phrase_with_look
        if not against:
            return None
        is_campaign = self._is_spam(position) or by.is_anchor
        return config.phrase_trusted if is_campaign else config.phrase_approved

    def _bursts(self, rows: Sequence[Decided]) -> Iterable[tuple[Lowered, IntArray, float, float]]:
        def of_period(row: Decided, form: str) -> str:
            made_at = row.in_force.made_at.astimezone(UTC)
            return f"{row.in_force.reviewer} {row.example.source} {made_at.strftime(form)}"

        config = self._config
        hours = _numbered([of_period(row, "%Y-%m-%dT%H") for row in rows])
        days = _numbered([of_period(row, "%Y-%m-%d") for row in rows])
        yield Lowered.HOUR, hours, config.hour_share, config.hour_always
        yield Lowered.DAY, days, config.day_share, config.day_always
        # An anchor's training examples stand alone: their site may be the only one there is.
        sources = _numbered(
            [
                f"anchor {number}"
                if self._reviewers[row.in_force.reviewer].is_anchor
                else f"source {row.example.source}"
                for number, row in enumerate(rows)
            ]
        )
        yield Lowered.SOURCE, sources, config.source_share, config.source_always

    def _training_examples(self, left: Sequence[int]) -> Iterable[WeighedDecision]:
        newest = self._newest(left)
        for i in left:
            row = self._decided[i]
            yield WeighedDecision(
                example=row.example,
                weight=float(self._weights[i]),
                decided_at=row.in_force.made_at,
                newest=i in newest,
                sample_weight=row.weight,
                is_drawn=row.is_drawn,
                lowered=tuple(self._lowered[i]),
            )

    def _newest(self, left: Sequence[int]) -> frozenset[int]:
        """Return which are held out: of the newest, those whose kin are all among the newest."""
        in_time = sorted(left, key=lambda i: (self._decided[i].in_force.made_at, i))
        n_held = int(len(in_time) * self._config.newest_share)
        older = {int(self._kin[i]) for i in in_time[: len(in_time) - n_held]}
        held = in_time[len(in_time) - n_held :]
        return frozenset(i for i in held if int(self._kin[i]) not in older)


def _p_spam_of(row: Decided, current: Mapping[str, float]) -> float | None:
    """Return how a comment looks to the model, None where no whole verdict says so."""
    if row.id in current:
        return current[row.id]
    return None if row.verdict is None or row.verdict.degraded else row.verdict.p_spam


def _by_group(examples: Sequence[Example], groups: IntArray) -> dict[int, frozenset[bool]]:
    labels: defaultdict[int, set[bool]] = defaultdict(set)
    for example, group in zip(examples, groups.tolist(), strict=True):
        labels[group].add(example.is_spam)
    return {group: frozenset(some) for group, some in labels.items()}


def _numbered(names: Sequence[str | int]) -> IntArray:
    """Return a number for each name, the same for equal ones, counted from 0."""
    numbers: dict[str | int, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)
