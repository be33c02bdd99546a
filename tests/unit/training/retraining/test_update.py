"""What follows the network of an updated version: corrected by decisions, else as it was."""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.features import count_features
from models.linear import LinearTable
from models.registry import Fusion
from models.transformer import Calibration
from tests.unit.training.decided import make_example
from training.data.partition import Partition
from training.fit.reading import Read
from training.retraining.update import UpdateConfig, correct_linear, guard_cutoffs

CALIBRATION = Calibration(offset=0.0, network=1.0, linear=1.0, marks_from=0.0)
NOTHING = LinearTable(ids=np.zeros(0, dtype=np.int64), coefficients=np.zeros(0), intercept=0.5)
SPAM = [f"the glimmerwax polish number {n} changed our whole kitchen" for n in range(8)]
HAM = [f"my radiator number {n} still knocks after bleeding it" for n in range(8)]


def _example(text, *, is_spam):
    return make_example(text=text, is_spam=is_spam)


def _read(n, network=0.0):
    return Read(
        network=np.full(n, network),
        linear=np.full(n, 0.5),
        names=np.zeros(n),
        strongest=np.zeros(n),
        windows=[()] * n,
        promotion=[()] * n,
        by_words=[()] * n,
    )


def _sum(table, text):
    return table.sum_of(count_features(_example(text, is_spam=True).input))


def _corrected(weights, *, network=0.0, config=None, read=None, calibration=CALIBRATION):
    taught = [_example(text, is_spam=True) for text in SPAM]
    replayed = [_example(text, is_spam=False) for text in HAM] * 50
    return correct_linear(
        NOTHING,
        taught,
        np.array(weights),
        read or _read(len(taught), network),
        replayed,
        calibration,
        config or UpdateConfig(),
    )


def test_words_of_rejected_comments_count_for_spam_and_others_stay():
    table = _corrected([1.0] * 8)

    assert _sum(table, "glimmerwax polish, number 9, for the whole kitchen") > 1.0
    assert _sum(table, "my radiator number 9 still knocks") == pytest.approx(0.5, abs=0.1)


def test_a_training_example_teaches_by_its_weight():
    full, little, none = (_corrected([w] * 8) for w in (1.0, 0.1, 0.0))

    told = [_sum(table, SPAM[0]) for table in (full, little, none)]
    assert told[0] > told[1] > told[2] == pytest.approx(0.5)


def test_what_the_version_knows_already_is_hardly_corrected():
    unknown, known = (_corrected([1.0] * 8, network=network) for network in (0.0, 6.0))

    assert abs(_sum(known, SPAM[0]) - 0.5) < 0.1 * abs(_sum(unknown, SPAM[0]) - 0.5)


def test_what_the_table_held_before_is_kept():
    ids = count_features(_example("thermostat", is_spam=False).input).ids[-3:]
    before = LinearTable(ids=ids, coefficients=np.array([1.0, -2.0, 0.25]), intercept=-1.0)
    taught = [_example(text, is_spam=True) for text in SPAM]

    others = [_example(text, is_spam=False) for text in HAM]

    after = correct_linear(
        before, taught, np.ones(8), _read(8), others, CALIBRATION, UpdateConfig()
    ).to_arrays("after")

    kept = dict(zip(after["after_ids"].tolist(), after["after_coefficients"].tolist(), strict=True))
    assert [kept[place] for place in ids.tolist()] == [1.0, -2.0, 0.25]
    assert after["after_intercept"] == [-1.0]


def test_the_same_training_examples_give_the_same_table():
    first, again = (_corrected([1.0] * 8).to_arrays("one") for _ in range(2))

    assert all(np.array_equal(first[name], again[name]) for name in first)


def _fusion(ham_cutoff=0.1, spam_cutoff=0.9):
    return Fusion(
        base=0.0,
        model_weight=1.0,
        signal_weights={},
        ham_cutoff=ham_cutoff,
        spam_cutoff=spam_cutoff,
        promises={},
    )


PARTS = Partition(train=(), calibration=(), test=(), dropped={})
IS_SPAM = np.array([False] * 4 + [True] * 4)


def test_cutoffs_stay_where_the_candidate_says_the_same():
    p = np.array([0.0, 0.2, 0.3, 0.95, 0.05, 0.5, 0.95, 0.99])

    guarded = guard_cutoffs(_fusion(), IS_SPAM, p, p)

    assert (guarded.ham_cutoff, guarded.spam_cutoff) == pytest.approx((0.1, 0.9))


def test_cutoffs_move_apart_until_no_more_ham_is_lost_and_no_more_spam_missed():
    before = np.array([0.1, 0.2, 0.3, 0.95, 0.05, 0.5, 0.95, 0.99])
    after = np.array([0.1, 0.2, 0.93, 0.97, 0.02, 0.06, 0.95, 0.99])

    guarded = guard_cutoffs(_fusion(), IS_SPAM, before, after)

    assert np.count_nonzero(after[~IS_SPAM] >= 0.9) == 2
    assert np.count_nonzero(after[~IS_SPAM] >= guarded.spam_cutoff) <= 1
    assert np.count_nonzero(after[IS_SPAM] < guarded.ham_cutoff) <= 1


def test_the_ham_that_comes_closest_keeps_its_distance_from_the_cutoff():
    before, after = np.full(2_000, 0.1), np.full(2_000, 0.1)
    before[:20], after[:20] = 0.5, 0.6
    is_spam = np.zeros(2_000, dtype=bool)
    is_spam[-1] = True

    guarded = guard_cutoffs(_fusion(), is_spam, before, after)

    moved = math.log(0.6 / 0.4)
    assert math.log(guarded.spam_cutoff / (1 - guarded.spam_cutoff)) == pytest.approx(
        math.log(0.9 / 0.1) + moved, rel=0.01
    )
    assert guarded.ham_cutoff == pytest.approx(0.1)


def test_ham_that_moved_unevenly_keeps_more_than_its_average_distance():
    before, evenly, unevenly = (np.full(2_000, 0.1) for _ in range(3))
    before[:20], evenly[:20] = 0.5, 0.6
    unevenly[:20] = [0.55, 0.65] * 10
    is_spam = np.zeros(2_000, dtype=bool)
    is_spam[-1] = True

    cutoffs = [
        guard_cutoffs(_fusion(), is_spam, before, after).spam_cutoff
        for after in (before, evenly, unevenly)
    ]

    assert cutoffs[0] == pytest.approx(0.9)
    assert cutoffs[0] < cutoffs[1] < cutoffs[2]


def test_cutoffs_never_move_together():
    before = np.array([0.1, 0.1, 0.95, 0.97, 0.02, 0.05, 0.95, 0.99])
    after = np.array([0.01, 0.01, 0.01, 0.01, 0.99, 0.99, 0.99, 0.99])

    guarded = guard_cutoffs(_fusion(), IS_SPAM, before, after)

    assert (guarded.ham_cutoff, guarded.spam_cutoff) == pytest.approx((0.1, 0.9))
