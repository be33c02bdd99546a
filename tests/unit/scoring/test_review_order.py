"""What waits most dearly is looked at first."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.decision import Mode
from service.domain.report import Label
from service.domain.verdict import Outcome
from service.scoring.review_order import MAX_HEAD_START, review_at
from tests.factories import NOW

HOUR = timedelta(hours=1)


def _head_start(mode=Mode.HOLD, outcome=Outcome.UNSURE, p_spam=0.5, **changes) -> float:
    at = review_at(NOW, mode=mode, outcome=outcome, p_spam=p_spam, **changes)
    return (NOW - at) / HOUR


@pytest.mark.parametrize(
    ("mode", "outcome", "p_spam", "hours"),
    [
        (Mode.HOLD, Outcome.UNSURE, 0.25, 9.0),
        (Mode.OBSERVE, Outcome.UNSURE, 0.25, 3.0),
        (Mode.HOLD, Outcome.HAM, 0.25, 3.0),
        (Mode.ENFORCE, Outcome.SPAM, 0.75, 3.0),
        (Mode.OBSERVE, Outcome.SPAM, 0.75, 9.0),
    ],
)
def test_the_head_start_is_how_likely_what_the_site_does_now_is_wrong(mode, outcome, p_spam, hours):
    assert _head_start(mode, outcome, p_spam) == pytest.approx(hours)


def test_nobody_waits_more_than_half_a_day_behind_doubt():
    surely_wrong = review_at(NOW, mode=Mode.HOLD, outcome=Outcome.UNSURE, p_spam=0.0)
    surely_right = review_at(NOW, mode=Mode.HOLD, outcome=Outcome.UNSURE, p_spam=1.0)

    assert surely_right - surely_wrong == MAX_HEAD_START


def test_without_a_verdict_age_alone_decides():
    assert _head_start(outcome=None, p_spam=0.0) == 0.0


def test_a_report_against_the_verdict_is_worth_at_least_a_coin():
    doubted = _head_start(outcome=Outcome.SPAM, p_spam=0.99, reported_as=Label.HAM)
    confirmed = _head_start(outcome=Outcome.SPAM, p_spam=0.99, reported_as=Label.SPAM)

    assert doubted == pytest.approx(6.0)
    assert confirmed == pytest.approx(0.12)
