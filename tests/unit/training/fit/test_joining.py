"""How members join: what names say, where the first reading leaves a doubt, who reads again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.names import count_name
from models.transformer import Calibration, SecondReading
from service.domain.comment import Author
from tests.unit.training.decided import make_example
from training.fit.joining import (
    JoinConfig,
    calibrate,
    choose_doubt,
    fit_names,
)
from training.fit.reading import (
    Read,
    ReadAgain,
    labels,
    log_odds_of,
    read_twice,
)

CONFIG = JoinConfig()
EXAMPLES = [make_example(is_spam=n % 4 == 0) for n in range(2_000)]
IS_SPAM = labels(EXAMPLES)


def make_read(*, twice: bool = True, asked: bool = True) -> Read:
    """Return members' answers: a first network that is often wrong, a second that seldom is."""
    rng = np.random.default_rng(3)
    n, side = len(EXAMPLES), np.where(IS_SPAM, 1.0, -1.0)
    read = Read(
        network=rng.normal(side, 1.5),
        linear=rng.normal(side, 2.0),
        names=np.zeros(n),
        voice=np.zeros(n),
        strongest=np.full(n, -7.0),
        windows=[()] * n,
        promotion=[()] * n,
    )
    again = ReadAgain(
        asked=np.full(n, asked),
        network=rng.normal(3 * side, 1.5),
        strongest=np.full(n, -7.0),
    )
    return replace(read, second=again) if twice else read


def mean_loss(read: Read, calibration: Calibration) -> float:
    return float(np.logaddexp(0, np.where(IS_SPAM, -1, 1) * log_odds_of(read, calibration)).mean())


def test_outside_the_doubt_lies_no_more_of_the_other_label_than_may():
    rng = np.random.default_rng(4)
    is_spam = np.arange(20_000) % 2 == 0
    log_odds = rng.normal(np.where(is_spam, 2.0, -2.0), 1.5)

    doubt_from, doubt_to = choose_doubt(log_odds, is_spam, CONFIG)

    assert np.mean(log_odds[is_spam] < doubt_from) == pytest.approx(0.005)
    assert np.mean(log_odds[~is_spam] > doubt_to) == pytest.approx(0.000_5)
    # What is settled at once is more than what is not.
    assert np.mean((log_odds >= doubt_from) & (log_odds <= doubt_to)) < 0.9


def test_where_both_labels_lie_apart_the_doubt_is_the_gap_between_them():
    is_spam = np.array([False] * 5 + [True] * 5)
    log_odds = np.array([-5.0, -4, -3, -2, -1, 1, 2, 3, 4, 5])

    assert choose_doubt(log_odds, is_spam, CONFIG) == (-1.0, 1.0)


def test_a_second_reading_that_knows_better_is_asked_and_makes_the_answer_better():
    once, twice = make_read(twice=False), make_read()

    first = calibrate(once, EXAMPLES, (0.0, 0.0), CONFIG)
    both = calibrate(twice, EXAMPLES, (0.0, 0.0), CONFIG)

    assert first.second is None
    assert both.second is not None
    assert both.second.doubt_from < both.second.doubt_to
    assert replace(both, second=None) == first
    assert mean_loss(twice, both) < 0.5 * mean_loss(once, first)


def test_the_second_answer_counts_inside_the_doubt_of_those_asked_alone():
    read, unasked = make_read(), make_read(asked=False)
    one = Calibration(
        offset=0.0, network=1.0, linear=0.0, marks_from=0.0, voice_offset=0.0, voice_slope=0.0
    )
    second = SecondReading(
        offset=0.5, network=2.0, linear=0.0, first=0.25, doubt_from=-1.0, doubt_to=1.0
    )
    both = replace(one, second=second)

    found = log_odds_of(read, both)

    inside = (read.network >= -1.0) & (read.network <= 1.0)
    assert np.array_equal(read_twice(read, both), inside)
    assert np.array_equal(found[~inside], read.network[~inside])
    expected = 0.25 * read.network + 0.5 + 2.0 * read.second.network
    assert np.allclose(found[inside], expected[inside], rtol=1e-12)
    assert np.array_equal(log_odds_of(unasked, both), log_odds_of(unasked, one))
    assert not read_twice(make_read(twice=False), both).any()


def named(name: str, *, is_spam: bool):
    return make_example(is_spam=is_spam, author=Author(name=name))


def test_names_say_what_they_were_seen_with_and_nothing_on_average():
    people = ("Mara Lind", "Jo", "Ada Byron", "Tom S.")
    shops = ("Cheap Watches", "SEO Agency", "best loans", "watches24.shop")
    examples = [
        named(f"{name} {'abcdefgh'[n % 8]}", is_spam=False) for n in range(30) for name in people
    ]
    examples += [
        named(f"{name} {'abcdefgh'[n % 8]}", is_spam=True) for n in range(30) for name in shops
    ]

    table = fit_names(examples, CONFIG)

    assert table is not None
    sums = np.array([table.sum_of(count_name(e.input)) for e in examples])
    spam, ham = sums[labels(examples)].mean(), sums[~labels(examples)].mean()
    assert spam > 1.0
    assert spam == pytest.approx(-ham, abs=1e-3)


def test_too_few_names_are_no_ground_to_say_anything():
    examples = [named("Mara", is_spam=n % 2 == 0) for n in range(60)]
    examples += [make_example(is_spam=True, author=Author()) for _ in range(200)]

    assert fit_names(examples, CONFIG) is None
