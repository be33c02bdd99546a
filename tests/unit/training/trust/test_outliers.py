"""Reviewers and sources that contradict confident verdicts too often are found, others are not."""

from __future__ import annotations

import random

import pytest

from service.domain.verdict import Outcome
from tests.unit.training.decided import make_decided
from training.trust.outliers import OutlierConfig, find_outliers, leans_against

CONFIG = OutlierConfig()


def decisions(name, *, n, against, **changes):
    """Return (decision, p_spam, name) of which so many contradict a confident probability."""
    rows = []
    for i in range(n):
        is_spam = i % 2 == 0
        says_spam = is_spam is not (i < against)
        p_spam = 0.95 if says_spam else 0.05
        rows.append((make_decided(is_spam=is_spam, p_spam=p_spam, **changes), p_spam, name))
    return rows


def found(*some, kin=None):
    rows = [row for one in some for row in one]
    decided, p_spam, names = zip(*rows, strict=True)
    return find_outliers(decided, p_spam, names, kin or range(len(rows)), CONFIG)


def test_a_fifth_of_flipped_labels_in_one_source_is_found():
    assert found(decisions("bad", n=120, against=27), decisions("good", n=120, against=3)) == {
        "bad"
    }


def test_a_source_alone_is_measured_by_what_calibration_allows():
    assert found(decisions("bad", n=120, against=30)) == {"bad"}
    assert found(decisions("fair", n=120, against=11)) == frozenset()


def test_where_the_machine_errs_everywhere_nobody_is_singled_out():
    assert found(*(decisions(f"s{n}", n=100, against=25) for n in range(3))) == frozenset()


def test_a_few_decisions_prove_nothing():
    assert found(decisions("small", n=19, against=19)) == frozenset()


def test_what_people_went_and_looked_for_does_not_count():
    rows = decisions("careful", n=80, against=80, outcome=Outcome.HAM)

    assert found(rows, decisions("other", n=80, against=2)) == frozenset()


def test_a_campaign_counts_once():
    rows = decisions("blog", n=60, against=60)

    assert found(rows, kin=[0] * 60) == frozenset()


@pytest.mark.parametrize("seed", range(3))
def test_sincere_sources_of_a_calibrated_model_are_hardly_ever_lost(seed):
    rng = random.Random(seed)
    rows = []
    for source in range(40):
        for _ in range(100):
            p = rng.choice([rng.uniform(0.0, 0.1), rng.uniform(0.9, 1.0)])
            is_spam = rng.random() < p
            rows.append((make_decided(is_spam=is_spam, p_spam=p), p, f"s{source}"))

    assert len(found(rows)) <= 1


@pytest.mark.parametrize(
    ("is_spam", "p_spam", "leans"),
    [(True, 0.05, True), (True, 0.5, False), (False, 0.95, True), (False, 0.1, False)],
)
def test_only_confident_probabilities_are_contradicted(is_spam, p_spam, leans):
    assert leans_against(is_spam, p_spam, CONFIG) is leans
    assert not leans_against(is_spam, None, CONFIG)
