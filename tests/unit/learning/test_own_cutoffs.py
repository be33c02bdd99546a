"""A site's own cutoffs keep the promises where its decisions can tell, else the version's stay."""

from __future__ import annotations

import pytest

from service.learning.numbers import CUTOFF_MARGIN, UNPROMISED_MARGIN
from service.learning.own_cutoffs import Outermost, Predicted, find_outermost
from service.scoring.conclude import logistic, logit
from service.scoring.weights import Cutoffs

PROMISED = Cutoffs(ham_cutoff=0.04, spam_cutoff=0.998)


def drawn(log_odds: float, *, is_spam: bool = False, times: float = 1.0) -> Predicted:
    return Predicted(log_odds=log_odds, is_spam=is_spam, drawn=times)


def test_too_few_decisions_leave_the_versions_cutoffs():
    some = [drawn(0.0)] * 500 + [drawn(1.0, is_spam=True)] * 50

    assert find_outermost(some) == Outermost()
    assert Outermost().within(PROMISED, frozen=9.0) is PROMISED


def test_with_too_few_decisions_learning_calls_spam_only_what_lies_above_the_cutoff():
    frozen = logit(PROMISED.spam_cutoff) - 1e-6

    cutoffs = Outermost().within(PROMISED, frozen=frozen)

    assert logit(cutoffs.spam_cutoff) == pytest.approx(
        logit(PROMISED.spam_cutoff) + UNPROMISED_MARGIN
    )
    assert cutoffs.ham_cutoff == PROMISED.ham_cutoff


def test_where_decisions_promise_a_cutoff_it_holds_for_every_comment():
    known = find_outermost([drawn(-6.0, times=50.0)] * 100)

    assert known.within(PROMISED, frozen=-9.0) == known.within(PROMISED, frozen=9.0)


def test_an_audited_ham_that_was_called_spam_moves_the_cutoff_above_it():
    seen = [drawn(-6.0, times=50.0)] * 100 + [drawn(9.0, times=50.0)]

    cutoffs = find_outermost(seen).within(PROMISED, frozen=9.0)

    assert logit(cutoffs.spam_cutoff) == pytest.approx(9.0 + CUTOFF_MARGIN)


def test_many_ham_far_below_let_the_spam_cutoff_down_by_two_at_most():
    seen = [drawn(-6.0, times=50.0)] * 100

    cutoffs = find_outermost(seen).within(PROMISED, frozen=9.0)

    assert logit(cutoffs.spam_cutoff) == pytest.approx(logit(PROMISED.spam_cutoff) - 2.0)


def test_missed_spam_lowers_the_ham_cutoff_and_nothing_raises_it():
    missed = [drawn(5.0, is_spam=True)] * 150 + [drawn(-4.5, is_spam=True, times=50.0)]
    none_missed = [drawn(5.0, is_spam=True)] * 150

    assert find_outermost(missed).within(PROMISED, frozen=9.0).ham_cutoff == pytest.approx(
        logistic(-5.0)
    )
    assert (
        find_outermost(none_missed).within(PROMISED, frozen=9.0).ham_cutoff == PROMISED.ham_cutoff
    )
