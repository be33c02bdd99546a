"""The state that the decisions in force teach: a pure function of them and their order.

Learning one more is the same as learning all from the beginning, to the last bit, and so is
learning without one that was taken back: the database is the truth, this can always be made again.

Each expert is a part of the residual, the first none at all. Their probabilities are mixed by the
rule of Bayes over what was decided so far, each prediction made before its decision is learnt, so
that the mixture's log-loss is never worse than the best expert's by more than the logarithm of
their number, besides the fixed share that lets another one become best.
"""

import heapq
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace

from service.domain.comment import CommentId, SiteId
from service.learning.evidence import LocalEvidence
from service.learning.features import Features, FloatArray, TrainingExample
from service.learning.numbers import (
    BOUND,
    CUTOFF_DECISIONS,
    EXPERTS,
    MOST_LOSS,
    RATE,
    SHARE,
    SHARED_FADES,
)
from service.learning.own_cutoffs import Outermost, Predicted, find_outermost
from service.learning.residual import Residual, Shared, slot_bits
from service.learning.trust import TRUSTED, Ledger, TeacherRecord, outlier_teachers, record_teachers
from service.scoring.conclude import logistic
from service.scoring.weights import Cutoffs

_FLOOR = 1e-12
# The mixture's log-odds stay within this: beyond it 1 - p would be no number any more.
_MOST_LOG_ODDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How far each expert is believed after `n` decisions, each predicted before it was learnt."""

    beliefs: tuple[float, ...] = (1.0 / len(EXPERTS),) * len(EXPERTS)
    n: int = 0

    def mix(self, frozen: float, moved: Sequence[float]) -> float:
        """Return the log-odds of the experts' probabilities, which add `moved`, by belief."""
        spam = ham = 0.0
        for belief, by in zip(self.beliefs, moved, strict=True):
            spam += belief * logistic(frozen + by)
            ham += belief * logistic(-frozen - by)
        mixed = math.log(max(spam, 1e-300)) - math.log(max(ham, 1e-300))
        return min(max(mixed, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)

    def after(self, frozen: float, moved: Sequence[float], *, is_spam: bool) -> "Evidence":
        """Return the evidence once a decision is known that was predicted so."""
        sign = 1.0 if is_spam else -1.0
        losses = [_loss(sign * (frozen + by)) for by in moved]
        least = min(losses)
        weighed = [
            belief * math.exp(least - loss)
            for belief, loss in zip(self.beliefs, losses, strict=True)
        ]
        total = math.fsum(weighed)
        even = SHARE / len(weighed)
        return Evidence(
            beliefs=tuple((1.0 - SHARE) * one / total + even for one in weighed), n=self.n + 1
        )


def _loss(log_odds: float) -> float:
    """Return the nats that a prediction costs whose right answer has these log-odds."""
    return min(-math.log(max(logistic(log_odds), _FLOOR)), MOST_LOSS)


# Among so many decisions those are looked for that still stand and were made before the verdict.
MOST_BEHIND = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedExample:
    """A training example and what it did to its site's residual: a gradient in log-odds, or 0."""

    example: TrainingExample
    gradient: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteState:
    """What one site has learned from its own decisions."""

    residual: Residual
    evidence: Evidence = field(default_factory=Evidence)
    outermost: Outermost = field(default_factory=Outermost)
    predicted: tuple[Predicted, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedState:
    """What all sites have learned. It never changes: learning more makes another one.

    `n_examples` are each site's that may teach, `records` those of all teachers but owners. `salt`
    keys the hashes of features. `evidence` is what became of the weights that were set.
    """

    salt: int = 0
    examples: tuple[LearnedExample, ...] = ()
    sites: Mapping[SiteId, SiteState] = field(default_factory=dict)
    shared: Shared = field(default_factory=Shared)
    n_examples: Counter[SiteId] = field(default_factory=Counter)
    records: Mapping[str, TeacherRecord] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    evidence: LocalEvidence = field(default_factory=LocalEvidence)

    def residual_of(self, site_id: SiteId, features: Features, *, frozen: float) -> float | None:
        """Return the log-odds that decisions add to a comment, or None without decisions."""
        if not self.examples:
            return None
        site = self.sites.get(site_id, _NEW_SITE)
        moved = moves(site.residual.of(features), self.shared.of(features), site.evidence.n)
        mixed = site.evidence.mix(frozen, moved)
        return min(max(mixed - frozen, -BOUND), BOUND)

    def cutoffs(self, site_id: SiteId, promised: Cutoffs, *, frozen: float) -> Cutoffs:
        """Return the cutoffs for a comment at a site, given those of the version that serves.

        `frozen` are the log-odds without what decisions taught.
        """
        return self.sites.get(site_id, _NEW_SITE).outermost.within(promised, frozen=frozen)

    def parts(self, site_id: SiteId, features: Features) -> FloatArray:
        """Return the log-odds towards spam that each feature adds, unbounded."""
        site = self.sites.get(site_id, _NEW_SITE)
        lent: FloatArray = _lent(site.evidence.n) * self.shared.parts(features)
        return lent + site.residual.parts(features)

    def behind(
        self, site_id: SiteId, features: Features, *, by: float, until: int
    ) -> tuple[CommentId, ...]:
        """Return the comments whose decisions here moved this one most in the direction of `by`.

        At most `MOST_BEHIND`, the weightiest first, of those made by the day `until`.
        """
        site = self.sites.get(site_id, _NEW_SITE)
        spread = site.residual.spread(features)
        moved = [
            (-one.gradient * by * site.residual.gather(spread, one.example.features), one.example)
            for one in self.examples
            if one.gradient and one.example.site_id == site_id and one.example.day <= until
        ]
        most = heapq.nlargest(MOST_BEHIND, moved, key=lambda one: one[0])
        return tuple(example.comment_id for towards, example in most if towards > 0.0)

    def after(self, new: Sequence[TrainingExample]) -> "LearnedState":
        """Return the state after these later examples; it equals `learn_all` of all examples."""
        records = record_teachers(new, self.records)
        outliers = outlier_teachers(records)
        n_examples = self.n_examples + _count(new, outliers)
        grows = any(
            slot_bits(n_examples[site_id]) != slot_bits(n) for site_id, n in self.n_examples.items()
        )
        if grows or outliers != outlier_teachers(self.records):
            return learn_all([*(one.example for one in self.examples), *new], salt=self.salt)
        return _go_on(replace(self, n_examples=n_examples, records=records), new)


_NEW_SITE = SiteState(residual=Residual(bits=0, rate=RATE, bound=BOUND))


def learn_all(examples: Sequence[TrainingExample], *, salt: int) -> LearnedState:
    """Return the state that these training examples teach, in their order."""
    records = record_teachers(examples)
    n_examples = _count(examples, outlier_teachers(records))
    return _go_on(LearnedState(salt=salt, n_examples=n_examples, records=records), examples)


def _count(examples: Sequence[TrainingExample], outliers: frozenset[str]) -> Counter[SiteId]:
    return Counter(example.site_id for example in examples if example.teacher not in outliers)


def moves(own: float, shared: float, n_decisions: int) -> list[float]:
    """Return the log-odds that each expert adds, at a site of so many decisions."""
    lent = shared * _lent(n_decisions)
    return [min(max(a * own + b * lent, -BOUND), BOUND) for a, b in EXPERTS]


def _lent(n_decisions: int) -> float:
    """Return the share of the shared residual that counts at a site of so many decisions."""
    return SHARED_FADES / (SHARED_FADES + n_decisions)


def _go_on(begun: LearnedState, examples: Sequence[TrainingExample]) -> LearnedState:
    learning = {
        site_id: _LearningSite(begun.sites.get(site_id), begun.n_examples[site_id])
        for site_id in dict.fromkeys(example.site_id for example in examples)
    }
    outliers = outlier_teachers(begun.records)
    shared, ledger = deepcopy(begun.shared), begun.ledger.copy()
    evidence = begun.evidence.copy()
    learned = []
    for example in examples:
        weight = 0.0 if example.teacher in outliers else ledger.weigh(example)
        gradient = learning[example.site_id].learn(example, shared, weight)
        if weight > 0.0 and example.source in TRUSTED:
            evidence.learn(example.pieces, is_spam=example.is_spam, weight=weight)
            shared.learn(
                example.features,
                site_id=example.site_id,
                frozen=example.frozen,
                is_spam=example.is_spam,
                weight=weight,
            )
        learned.append(LearnedExample(example=example, gradient=gradient))
    return replace(
        begun,
        examples=(*begun.examples, *learned),
        sites={**begun.sites, **{site_id: one.done() for site_id, one in learning.items()}},
        shared=shared,
        ledger=ledger,
        evidence=evidence,
    )


class _LearningSite:
    """One site while it learns, apart from what it was before."""

    def __init__(self, before: SiteState | None, n_examples: int) -> None:
        if before is None:
            residual = Residual(bits=slot_bits(n_examples), rate=RATE, bound=BOUND)
            before = SiteState(residual=residual)
        self._residual = deepcopy(before.residual)
        self._evidence = before.evidence
        self._predicted = list(before.predicted)

    def learn(self, example: TrainingExample, shared: Shared, weight: float) -> float:
        """Predict a decision, then learn it; return the gradient."""
        if weight == 0.0:
            return 0.0
        features = example.features
        moved = moves(self._residual.of(features), shared.of(features), self._evidence.n)
        if example.drawn > 0.0:
            predicted = Predicted(
                log_odds=self._evidence.mix(example.frozen, moved),
                is_spam=example.is_spam,
                drawn=example.drawn,
            )
            self._predicted.append(predicted)
        self._evidence = self._evidence.after(example.frozen, moved, is_spam=example.is_spam)
        return self._residual.learn(
            features, frozen=example.frozen, is_spam=example.is_spam, weight=weight
        )

    def done(self) -> SiteState:
        newest = tuple(self._predicted[-CUTOFF_DECISIONS:])
        return SiteState(
            residual=self._residual,
            evidence=self._evidence,
            outermost=find_outermost(newest),
            predicted=newest,
        )
