"""Decisions fade by their age, sightings by their window; taking back is exact."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import strategies as st

from service.domain.decision import Ruling
from service.reputation.decay import Counter, decision_field, record_from, sighting_fields
from service.reputation.names import Kind
from tests.factories import NOW

WEEK = timedelta(weeks=1)
DAY = timedelta(days=1)


def rejected(kind: Kind, ago: timedelta) -> float:
    counter = Counter(decisions={decision_field(kind, Ruling.REJECT, NOW - ago): 1})
    return record_from(counter, kind, now=NOW).rejected


@pytest.mark.parametrize(
    ("kind", "ago", "worth"),
    [
        (Kind.ADDRESS, timedelta(0), 1.0),
        (Kind.ADDRESS, 8 * WEEK, 0.5),
        (Kind.ADDRESS, 16 * WEEK, 0.25),
        (Kind.ADDRESS, 27 * WEEK, 0.0),
        (Kind.ADDRESS, -WEEK, 1.0),
        (Kind.CONTENT, 5 * DAY, 0.5),
        (Kind.CONTENT, 31 * DAY, 0.0),
    ],
)
def test_a_decision_is_worth_half_after_its_half_life_and_nothing_after_its_time(kind, ago, worth):
    assert rejected(kind, ago) == pytest.approx(worth)


@pytest.mark.parametrize(
    ("ago", "hour", "day"),
    [
        (timedelta(0), 1, 1),
        (timedelta(minutes=59), 1, 1),
        (timedelta(minutes=71), 0, 1),
        (timedelta(hours=24), 0, 1),
        (timedelta(hours=28), 0, 0),
    ],
)
def test_a_sighting_counts_for_about_an_hour_and_about_a_day(ago, hour, day):
    counter = Counter(sightings=dict.fromkeys(sighting_fields(NOW - ago), 1))

    record = record_from(counter, Kind.ADDRESS, now=NOW)

    assert (record.seen_hour, record.seen_day) == (hour, day)


decisions = st.lists(
    st.tuples(
        st.sampled_from(["a1", "a2"]),
        st.sampled_from(["n1", "n2"]),
        st.sampled_from(Ruling),
        st.integers(0, 190),
    ),
    max_size=20,
)
