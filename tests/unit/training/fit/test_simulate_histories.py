"""Simulated senders: what they teach, and that it is bounded and repeatable."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from service.signals.registry import DETECTORS
from tests.factories import make_comment
from training.data.dataset import Example
from training.fit.fuse import HAM_SIGNALS
from training.fit.simulate_histories import (
    HISTORY_SIGNALS,
    MOST,
    HistoryFit,
    fit_histories,
)
from training.fit.simulated_world import SimulationConfig, Told

SMALL = SimulationConfig(worlds=2, checked_worlds=1)
CUTOFFS = (0.03, 0.97)


def example(number: int, *, is_spam: bool, campaign: str | None = None) -> Example:
    draw = random.Random(number)
    pitch = " Our shop https://cheap-valves.example.com has every size, ask for the discount."
    words = " ".join("".join(draw.choices("abdefgiklmnoprstu", k=6)) for _ in range(9))
    return Example(
        comment=make_comment(f"{words}.{pitch if campaign else ''}", id=f"c{number}"),
        is_spam=is_spam,
        source="authored-t1",
        post_key=f"p{number}",
        campaign=campaign,
    )


@pytest.fixture(scope="module")
def fit() -> HistoryFit:
    """Return weights where the fixed evidence is unsure of everything."""
    told = [Told(example=example(n, is_spam=n % 4 == 0), score=0.0) for n in range(240)]
    campaigns = [example(1_000 + n, is_spam=True, campaign=f"t1-c{n // 6}") for n in range(60)]
    return fit_histories(told, campaigns, CUTOFFS, SMALL)


def test_every_signal_of_history_gets_a_weight_of_its_own_sign_within_its_bound(fit):
    assert set(fit.weights) == set(HISTORY_SIGNALS) <= {d.name for d in DETECTORS}
    for name, weight in fit.weights.items():
        assert abs(weight) <= MOST[name]
        assert weight <= 0 if name in HAM_SIGNALS else weight >= 0


def test_a_campaign_makes_rejected_targets_weigh_and_regulars_make_approval_weigh(fit):
    assert fit.weights["rejected_target_before"] > 0.5
    assert fit.weights["approved_person_before"] < -0.5


def test_histories_settle_spam_that_nothing_else_does_and_call_no_ham_spam(fit):
    spam = [c for c in fit.checks if c.group == "authored campaigns"]
    ham = [c for c in fit.checks if not c.is_spam]

    assert sum(c.spam_without for c in spam) == 0
    assert sum(c.spam_with for c in spam) > 0
    assert sum(c.spam_with for c in ham) == 0


def test_groups_count_every_simulated_comment_of_the_checked_worlds(fit):
    groups = {c.group for c in fit.checks}

    assert {"ham", "ham behind a shared address", "regulars", "other spam"} <= groups
    # Each of the 180 ham is sent once a world, those that age an account once more.
    once = ("ham", "ham behind a shared address", "regulars")
    assert sum(c.count for c in fit.checks if c.group in once) == 180
    assert sum(c.count for c in fit.checks if c.is_spam) >= 60 + 60


def test_a_run_is_repeatable():
    told = [Told(example=example(n, is_spam=n % 4 == 0), score=0.0) for n in range(60)]
    config = replace(SMALL, worlds=1)

    once, again = (fit_histories(told, (), CUTOFFS, config) for _ in range(2))

    assert once == again


def test_without_decisions_nothing_but_bursts_is_seen():
    told = [Told(example=example(n, is_spam=n % 4 == 0), score=0.0) for n in range(60)]
    config = replace(SMALL, worlds=1, decided_if_held=0.0, decided_otherwise=0.0)

    fit = fit_histories(told, (), CUTOFFS, config)

    fired = [n for n in HISTORY_SIGNALS if fit.fired_on_spam[n] or fit.fired_on_ham[n]]
    assert set(fired) <= {"sender_burst", "copy_burst"}
