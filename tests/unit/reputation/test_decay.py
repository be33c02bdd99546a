"""Decisions fade by their age, sightings by their window; taking back is exact."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.comment import Sender
from service.domain.decision import Ruling
from service.domain.history import History, Record
from service.reputation.decay import Counter, decision_field, record_from, sighting_fields
from service.reputation.names import Kind
from tests.factories import NOW, make_comment
from tests.ledger import Ledger

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


def test_ones_own_sighting_is_left_out():
    counter = Counter(sightings=dict.fromkeys(sighting_fields(NOW), 2))

    assert record_from(counter, Kind.ADDRESS, now=NOW, own_sighting=NOW).seen_hour == 1


decisions = st.lists(
    st.tuples(
        st.sampled_from(["a1", "a2"]),
        st.sampled_from(["n1", "n2"]),
        st.sampled_from(Ruling),
        st.integers(0, 190),
    ),
    max_size=20,
)


def ledger_of(taught) -> Ledger:
    ledger = Ledger()
    for address, network, ruling, days in taught:
        ledger.learn(sent_by(address, network), ruling, at=NOW - days * DAY)
    return ledger


def sent_by(address: str, network: str = "n1"):
    text = "This remark about drain valves links https://shop.example and repeats many longer words"
    return make_comment(text, sender=Sender(address_key=address, network_key=network))


def seen_by(ledger: Ledger) -> list[History]:
    return [
        ledger.gather([sent_by(address, network)], now=NOW + timedelta(days=2 * index))[0]
        for index, (address, network) in enumerate([("a1", "n1"), ("a2", "n2")])
    ]


@given(decisions, st.randoms(use_true_random=False))
def test_the_order_of_decisions_does_not_matter(taught, random):
    shuffled = random.sample(taught, len(taught))

    assert seen_by(ledger_of(taught)) == seen_by(ledger_of(shuffled))


@given(decisions, decisions)
def test_learning_and_taking_back_changes_nothing(taught, passing):
    ledger = ledger_of(taught)
    for address, network, ruling, days in passing:
        ledger.learn(sent_by(address, network), ruling, at=NOW - days * DAY)

    for address, network, ruling, days in passing:
        ledger.unlearn(sent_by(address, network), ruling, at=NOW - days * DAY)

    assert seen_by(ledger) == seen_by(ledger_of(taught))


def test_a_record_before_the_rotation_is_added_and_not_written_again():
    ledger = Ledger()
    ledger.learn(sent_by("old"), Ruling.REJECT, at=NOW)
    rotated = make_comment(
        "Hello", sender=Sender(address_key="new", before_rotation=Sender(address_key="old"))
    )
    ledger.learn(rotated, Ruling.REJECT, at=NOW)

    after = ledger.gather([rotated], now=NOW)[0].address
    before = ledger.gather([sent_by("old")], now=NOW)[0].address

    assert after.everywhere == Record(rejected=2)
    assert before.everywhere.rejected == 1
