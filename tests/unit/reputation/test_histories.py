"""Counts fade and add up to histories; conduct is counted."""

from datetime import timedelta

import pytest

from service.domain.sender import Conduct
from service.reputation.conduct import conduct_from, steps_of, take_steps
from service.reputation.histories import Counter, fading_of, record_from
from service.reputation.names import Kind
from tests.factories import NOW, make_comment

WEEK = timedelta(weeks=1)
DAY = timedelta(days=1)


def rejected(kind: Kind, ago: timedelta) -> float:
    bucket = fading_of(kind).number_of(NOW - ago)
    counter = Counter(decisions={f"r:{bucket}": 1})
    return record_from(counter, kind, now=NOW).rejected


@pytest.mark.parametrize(
    ("kind", "ago", "worth"),
    [
        (Kind.ADDRESS, timedelta(0), 1.0),
        (Kind.ADDRESS, 8 * WEEK, 0.5),
        (Kind.ADDRESS, 27 * WEEK, 0.0),
        (Kind.ADDRESS, -WEEK, 1.0),
        (Kind.CONTENT, 5 * DAY, 0.5),
        (Kind.CONTENT, 31 * DAY, 0.0),
    ],
)
def test_a_decision_is_worth_half_after_its_half_life_and_nothing_after_its_time(kind, ago, worth):
    assert rejected(kind, ago) == pytest.approx(worth)


def test_fields_that_older_releases_kept_are_passed_over():
    fields = {"p": 2, "m": 3, "s0": 270, "q0": 24_300, "s4": 0, "q4": 0}
    take_steps(fields, steps_of(make_comment("The third valve was stuck."), now=NOW))

    assert conduct_from([fields], now=NOW) == Conduct(remarks=1)
