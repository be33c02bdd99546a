"""Shares estimated over strata: known numbers, and intervals that hold."""

from __future__ import annotations

import random

import numpy as np
import pytest

from service.moderation.judging.judge import is_audited
from service.scoring.shares import wilson_interval
from service.scoring.strata import MIN_SEEN, Stratum, rate_inside, weighted_share


def test_each_one_looked_at_stands_for_several_of_its_stratum():
    # 1 of 40 audited of 400 spam verdicts was ham: 10 in all; unsure: 30 of 50; ham: 960 in all.
    spam = Stratum(size=400, seen=40, hits=1)
    unsure = Stratum(size=50, seen=50, hits=30)
    ham = Stratum(size=1_000, seen=100, hits=96)

    rate = rate_inside(spam, [unsure, ham])

    assert rate is not None
    assert rate.share == pytest.approx(10 / (10 + 30 + 960))
    assert rate.low < rate.share < rate.high


def test_a_single_stratum_of_doubt_has_the_interval_of_that_stratum():
    spam = Stratum(size=1_000, seen=100, hits=0)
    ham = Stratum(size=1_000_000_000, seen=1_000_000_000, hits=1_000_000_000)

    rate = rate_inside(spam, [Stratum(size=0, seen=0, hits=0), ham])

    assert rate is not None
    assert (rate.share, rate.low) == (0.0, 0.0)
    _, high = wilson_interval(0, 100, confidence=0.975)
    assert rate.high == pytest.approx(1_000 * high / 1e9, rel=1e-4)


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ((500, MIN_SEEN - 1, 0), (500, 100, 90)),
        ((500, 100, 0), (500, MIN_SEEN - 1, 10)),
        ((0, 0, 0), (500, 100, 90)),
        ((500, 100, 0), (500, 100, 0)),
    ],
)
def test_too_few_looked_at_or_nothing_to_share_gives_no_rate(inside, outside):
    made = [Stratum(size=size, seen=seen, hits=hits) for size, seen, hits in (inside, outside)]

    assert rate_inside(made[0], made[1:]) is None


def test_a_small_stratum_that_was_looked_at_whole_is_enough():
    small = Stratum(size=3, seen=3, hits=1)

    assert rate_inside(small, [Stratum(size=100, seen=50, hits=50)]) is not None


def test_more_hits_than_looked_at_are_refused():
    with pytest.raises(ValueError, match="hits <= seen <= size"):
        Stratum(size=10, seen=5, hits=6)


def test_the_interval_holds_the_true_rate_at_least_as_often_as_it_says():
    draw = random.Random(7)
    truth = {"spam": (4_000, 0.01), "unsure": (600, 0.5), "ham": (6_000, 0.97)}
    held = 0
    rounds = 400

    for _ in range(rounds):
        strata = []
        hits = []
        for name, (size, share) in truth.items():
            all_of_it = sum(draw.random() < share for _ in range(200)) * size // 200
            sample = size if name == "unsure" else 120
            seen = sum(draw.random() < all_of_it / size for _ in range(sample))
            hits.append(all_of_it)
            strata.append(Stratum(size=size, seen=sample, hits=seen))
        rate = rate_inside(strata[0], strata[1:])
        assert rate is not None
        held += rate.low <= hits[0] / sum(hits) <= rate.high

    assert held / rounds >= 0.95


def test_equal_weights_give_wilsons_interval():
    share = weighted_share([(50.0, 30, 3), (50.0, 10, 1)])

    assert share is not None
    assert (share.n, share.share) == (40, pytest.approx(0.1))
    assert (share.low, share.high) == pytest.approx(wilson_interval(4, 40))


def test_unequal_weights_move_the_share_and_widen_the_interval():
    share = weighted_share([(50.0, 10, 0), (1.0, 100, 100)])

    assert share is not None
    assert share.share == pytest.approx(100 / 600)
    # (600)^2 / (10 x 2500 + 100) = 14.3 comments' worth.
    low, high = wilson_interval(14.343 / 6, 14.343)
    assert (share.low, share.high) == (
        pytest.approx(low, abs=1e-3),
        pytest.approx(high, abs=1e-3),
    )


def test_nothing_looked_at_has_no_weighted_share():
    assert weighted_share([]) is None
    assert weighted_share([(2.0, 0, 0)]) is None


def test_where_people_chose_whom_to_look_at_the_rest_may_be_anything():
    chosen = Stratum(size=100, seen=40, hits=10, at_random=False)

    assert chosen.bounds(confidence=0.95) == (10.0, 70.0)
    assert chosen.expected == 25.0


@pytest.mark.parametrize("decided", [0.3, 0.9])
@pytest.mark.parametrize("first", ["likely ham", "likely spam", "doubt", "any"])
@pytest.mark.parametrize("wanted_is_spam", [False, True])
def test_the_interval_holds_whomever_of_the_unsure_people_decide_first(
    wanted_is_spam, first, decided
):
    # The true share of all ham that is called spam, or of all spam that is called ham, is known
    # here; a tenth of the confident verdicts is audited by the draw that serves.
    draw = np.random.default_rng(17)
    n, rounds, held = 4_000, 60, 0
    for number in range(rounds):
        is_spam = draw.random(n) < 0.25
        p = 1 / (1 + np.exp(-np.where(is_spam, draw.normal(2.5, 2.2, n), draw.normal(-2, 2.2, n))))
        ids = [f"cmt_{number}_{at}" for at in range(n)]
        audited = np.array([is_audited(comment_id, 0.1) for comment_id in ids])
        called_spam, called_ham = p >= 0.9, p < 0.1
        unsure = np.flatnonzero(~called_spam & ~called_ham)
        key = {
            "likely ham": p[unsure],
            "likely spam": -p[unsure],
            "doubt": np.abs(p[unsure] - 0.5),
            "any": draw.random(len(unsure)),
        }[first]
        looked_at = unsure[np.argsort(key)[: int(decided * len(unsure))]]
        hit = is_spam if wanted_is_spam else ~is_spam
        inside, outside = (called_ham, called_spam) if wanted_is_spam else (called_spam, called_ham)

        rate = rate_inside(
            _stratum(inside, np.flatnonzero(inside & audited), hit),
            [
                _stratum(outside, np.flatnonzero(outside & audited), hit),
                Stratum(
                    size=len(unsure),
                    seen=len(looked_at),
                    hits=int(hit[looked_at].sum()),
                    at_random=False,
                ),
            ],
        )

        assert rate is not None
        held += rate.low <= hit[inside].sum() / hit.sum() <= rate.high

    # 95 % are stated; of 60 rounds 53 or fewer would hold with a chance of 3 % if that were all.
    assert held >= 54


def _stratum(part: np.ndarray, seen: np.ndarray, hit: np.ndarray) -> Stratum:
    return Stratum(size=int(part.sum()), seen=len(seen), hits=int(hit[seen].sum()))
