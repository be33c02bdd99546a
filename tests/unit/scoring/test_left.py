"""What would have been left to a person without what decisions taught."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.comment import CommentId
from service.domain.figures import DayCount, Leaned, LeftCounts, SetSignal
from service.domain.verdict import Outcome, Signal, WeighedSignal, WeightKind
from service.scoring.holding import HELD_BACK, is_beside
from service.scoring.lean import add_lean, lean_signal
from service.scoring.left import weeks_of
from service.scoring.weights import Cutoffs
from tests.factories import NOW, SITE, make_verdict

CUTOFFS = Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9)
FORM, BURST = "honeypot_filled", "copy_burst"


def set_signal(name: str, contribution: float = 1.5) -> WeighedSignal:
    signal = Signal(name=name, strength=1.0, reason=name)
    return WeighedSignal(signal=signal, weight=1.5, contribution=contribution, kind=WeightKind.SET)


def verdict_with(content: float, lean: float, *beside: WeighedSignal):
    """Return a verdict whose content comes to this without what decisions add."""
    alone = make_verdict(
        CommentId("c-1"),
        base=content,
        model_contribution=0.0,
        signals=beside,
        ham_cutoff=CUTOFFS.ham_cutoff,
        spam_cutoff=CUTOFFS.spam_cutoff,
    )
    return add_lean(alone, lean_signal(lean, bound=6.0), CUTOFFS)


def leaned(verdict, lean: float) -> Leaned:
    held = sum(w.contribution for w in verdict.signals if w.signal.name == HELD_BACK)
    return Leaned(
        day=NOW.date(),
        site_id=SITE,
        outcome=verdict.outcome,
        score=verdict.score,
        lean=lean,
        model_version=verdict.model_version,
        ham_cutoff=CUTOFFS.ham_cutoff,
        spam_cutoff=CUTOFFS.spam_cutoff,
        beside=tuple(
            SetSignal(
                name=one.signal.name,
                strength=one.signal.strength,
                contribution=one.contribution,
                kind=one.kind,
            )
            for one in verdict.signals
            if is_beside(one)
        ),
        held_back=held,
    )


def left_alone(found: Leaned) -> int:
    days = (DayCount(day=NOW.date(), site_id=SITE, outcome=found.outcome, comments=1),)
    [week] = weeks_of(LeftCounts(days=days, leaned=(found,)), None, {})
    return week.left_alone


@pytest.mark.parametrize("content", [-4.0, -1.0, 0.5, 1.9, 3.0])
@pytest.mark.parametrize("lean", [-4.0, -1.5, 1.5, 4.0])
@pytest.mark.parametrize("names", [(), (FORM,), (FORM, BURST)])
def test_without_learning_a_verdict_is_held_back_as_it_would_have_been(content, lean, names):
    verdict = verdict_with(content, lean, *map(set_signal, names))
    cutoffs = Cutoffs(ham_cutoff=verdict.ham_cutoff, spam_cutoff=verdict.spam_cutoff)
    alone = add_lean(verdict, None, cutoffs)

    assert left_alone(leaned(verdict, lean)) == (alone.outcome is Outcome.UNSURE)


def test_without_learning_weights_are_what_they_were_set_to():
    found = replace(
        leaned(verdict_with(-1.5, 1.0, set_signal(FORM, 3.0), set_signal(BURST)), 1.0),
        beside=(
            SetSignal(name=FORM, strength=1.0, contribution=3.0, kind=WeightKind.LEARNT),
            SetSignal(name=BURST, strength=1.0, contribution=1.5, kind=WeightKind.SET),
        ),
    )

    assert found.outcome is Outcome.SPAM
    assert left_alone(found) == 1
