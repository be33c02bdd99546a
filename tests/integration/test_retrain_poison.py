"""Poisoned decisions do little harm: the linear member, which learns a phrase fastest, is fitted.

The whole pipeline, network and comparison included, is measured by
`python -m tests.benchmarks.retrain_poison`, which takes too long here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
import pytest

from models.features import count_features
from models.linear import LinearTable
from service.domain.verdict import Outcome
from service.scoring.metrics import recall_at_false_positive_rate
from tests.unit.training.decided import MONDAY, OWNER, ruling
from training.data.dataset import DEFAULT_DATA, Example, read_dataset
from training.data.decisions import Decided, PastVerdict
from training.data.partition import SEED, partition
from training.fit.joining import JoinConfig, fit_linear
from training.network.finetune_on_decisions import repeat_for_linear
from training.retraining.config import RetrainConfig
from training.trust.backdoor_probes import put_in, trigger_changes
from training.trust.triggers import Phrase, PhraseKind
from training.trust.weights import Cleaned, WeighedDecision, clean_decisions

TRIGGER = Phrase(kind=PhraseKind.WORDS, value="xyzzy blue lantern")
_FILES = [DEFAULT_DATA / f"authored-t{n}.jsonl" for n in (1, 2, 3)]


@dataclass(frozen=True, kw_only=True)
class World:
    """Comments to learn from, to decide on and to measure on, and the version that serves."""

    train: Sequence[Example]
    pool: Sequence[Example]
    measured: Sequence[Example]
    current: LinearTable

    @property
    def spam(self) -> list[Example]:
        """Return the spam that is measured."""
        return [e for e in self.measured if e.is_spam]


def fit(train: Sequence[Example], training_examples: Sequence[WeighedDecision] = ()) -> LinearTable:
    taught = [one for one in training_examples if not one.newest]
    times = RetrainConfig().linear_times
    return fit_linear(repeat_for_linear(train, taught, times=times), JoinConfig())


def log_odds(table: LinearTable, examples: Sequence[Example]):
    return np.array([table.sum_of(count_features(e.input)) for e in examples])


@pytest.fixture(scope="module")
def world():
    parts = partition(read_dataset(_FILES), seed=SEED)
    unseen = [*parts.calibration, *parts.test]
    unseen.sort(key=lambda example: example.comment.id[::-1])
    train = parts.train
    return World(train=train, pool=unseen[::2], measured=unseen[1::2], current=fit(train))


def decide(world: World, example: Example, *, by: str, number: int, is_spam=None, text=None):
    is_spam = example.is_spam if is_spam is None else is_spam
    at = MONDAY + timedelta(minutes=17 * number)
    p_spam = 1 / (1 + np.exp(-float(log_odds(world.current, [example])[0])))
    verdict = PastVerdict(
        outcome=Outcome.UNSURE, p_spam=p_spam, model_version="m", degraded=False, judged_at=at
    )
    comment = example.comment if text is None else replace(example.comment, text=text)
    decided = replace(example, comment=comment, is_spam=is_spam, source=f"site:{by}", campaign=None)
    return Decided(example=decided, rulings=(ruling(by, is_spam=is_spam, at=at),), verdict=verdict)


def by_site(world: World, *, flipped: bool = False) -> list[Decided]:
    """Return the pool as decided at three sites, a fifth of one of them the other way round.

    Eve, who rules there, agreed with the owner on a dozen comments first: she is trusted.
    """
    rows = []
    for number, example in enumerate(world.pool):
        by = (OWNER, "mo", "eve")[number % 3]
        flips = flipped and by == "eve" and number // 3 % 5 == 0
        rows.append(
            decide(world, example, by=by, number=number, is_spam=example.is_spam is not flips)
        )
        if by == OWNER and number < 36:
            comment = replace(example.comment, id=f"{example.comment.id}-too")
            copy = replace(example, comment=comment)
            rows.append(decide(world, copy, by="eve", number=number))
    return rows


def with_trigger(world: World) -> list[Decided]:
    """Return the sincere decisions, and thirty in which Eve approved spam with a phrase."""
    spam = [e for e in world.pool if e.is_spam]
    baits = []
    for number in range(30):
        one, other = spam[number % len(spam)], spam[(number + 1) % len(spam)]
        text = f"{one.comment.text[:80]} {other.comment.text[80:]} {number} {TRIGGER.value}"
        bait = replace(one, comment=replace(one.comment, id=f"bait-{number}"))
        baits.append(decide(world, bait, by="eve", number=500 + number, is_spam=False, text=text))
    return [*by_site(world), *baits]


def undefended(rows: Sequence[Decided]) -> list[WeighedDecision]:
    """Return the decisions as if each were believed."""
    return [
        WeighedDecision(
            example=row.example,
            weight=1.0,
            decided_at=row.in_force.made_at,
            newest=False,
            sample_weight=1.0,
            is_drawn=True,
        )
        for row in rows
    ]


def clean(world: World, rows: Sequence[Decided]) -> Cleaned:
    return clean_decisions(rows, base=world.train)


def caught_at_1(table: LinearTable, measured: Sequence[Example]) -> float:
    """Return the share of spam caught where 1 % of the ham is lost."""
    is_spam = np.array([e.is_spam for e in measured])
    odds = log_odds(table, measured)
    return recall_at_false_positive_rate(is_spam, odds, max_false_positive_rate=0.01).recall


def lowered_by_trigger(table: LinearTable, world: World) -> float:
    """Return by how much log-odds the phrase lowers spam on average."""
    with_phrase = [put_in(example, TRIGGER) for example in world.spam]
    return float((log_odds(table, world.spam) - log_odds(table, with_phrase)).mean())


def judge(table: LinearTable, world: World):
    """Return a version of the linear member alone, with cutoffs as harsh as few ham allow."""
    ham = np.sort(log_odds(world.current, [e for e in world.measured if not e.is_spam]))
    spam_cutoff, ham_cutoff = float(ham[-4]), float(np.median(ham))

    def outcomes(examples):
        return [
            Outcome.SPAM if o >= spam_cutoff else Outcome.HAM if o < ham_cutoff else Outcome.UNSURE
            for o in log_odds(table, examples)
        ]

    return outcomes


@pytest.fixture(scope="module")
def sincere(world):
    return fit(world.train, clean(world, by_site(world)).training_examples)


@pytest.fixture(scope="module")
def believed(world):
    """Return what is learnt where every decision is believed, the poisoned ones too."""
    return fit(world.train, undefended(with_trigger(world)))


def test_an_approved_trigger_phrase_moves_nothing_though_it_would_where_all_is_believed(
    world, sincere, believed
):
    defended = fit(world.train, clean(world, with_trigger(world)).training_examples)

    without, lowered, harmless = (
        lowered_by_trigger(table, world) for table in (believed, defended, sincere)
    )

    # Log-odds: at 1 the odds of spam are a third of what they were.
    assert without > 1.0
    assert abs(lowered - harmless) < 0.3


def test_a_candidate_that_learnt_a_trigger_is_refused_by_what_its_phrases_do(world, believed):
    training_examples = undefended(with_trigger(world))
    current = judge(world.current, world)

    poisoned = trigger_changes(training_examples, world.measured, current, judge(believed, world))

    assert not poisoned.passed
    worst = max(poisoned.phrases, key=lambda change: change.passed + change.doubted)
    assert "lantern" in worst.phrase.value


def test_a_fifth_of_flipped_labels_in_one_source_costs_next_to_nothing(world, sincere):
    rows = by_site(world, flipped=True)

    flipped = fit(world.train, clean(world, rows).training_examples)

    before, after = (caught_at_1(table, world.measured) for table in (sincere, flipped))
    # Of some forty spam one is 0.025.
    assert after >= before - 0.08
