"""How long a batch takes, learnt from batches of different sizes."""

from __future__ import annotations

import pytest

from service.tasks.pace import Pace


def learn(pace, *sizes, fixed, each):
    for size in sizes:
        pace.learn(fixed + each * size, size)


def test_two_sizes_tell_the_fixed_cost_from_that_of_a_comment():
    pace = Pace()

    learn(pace, *(32, 64) * 10, fixed=0.2, each=0.01)

    assert pace.fixed_seconds == pytest.approx(0.2, rel=0.05)
    assert pace.seconds_each == pytest.approx(0.01, rel=0.05)
    assert pace.size_within(0.5) == pytest.approx(30, abs=2)


def test_what_changed_is_followed():
    pace = Pace()
    learn(pace, *(8, 16) * 20, fixed=0.01, each=0.01)

    learn(pace, *(8, 16) * 40, fixed=0.3, each=0.01)

    assert pace.fixed_seconds == pytest.approx(0.3, rel=0.1)


def test_what_batches_of_one_size_take_longer_is_put_down_to_the_batch():
    pace = Pace()
    learn(pace, *(4, 8) * 20, fixed=0.05, each=0.01)

    learn(pace, *[4] * 100, fixed=0.15, each=0.01)

    assert 0.14 <= pace.fixed_seconds <= 0.19


def test_before_sizes_differ_a_batch_may_be_of_any_size():
    pace = Pace()
    known_before = pace.is_known

    learn(pace, 1, fixed=0.1, each=0.05)

    assert not known_before
    assert pace.is_known
    assert pace.size_within(1.0) > 1_000


def test_no_cost_is_negative_whatever_odd_batches_say():
    pace = Pace()

    for seconds, size in ((5.0, 1), (0.1, 64), (3.0, 2), (0.2, 60)):
        pace.learn(seconds, size)

    assert pace.seconds_each > 0
    assert pace.fixed_seconds >= 0
    assert pace.size_within(0.0) == 0
