"""Reviewers weigh by how often others ruled alike, beginning with the owner."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.verdict import Outcome
from tests.unit.training.decided import MONDAY, OWNER, make_decided, ruling, some_words
from training.data.alike import group_kin, group_same
from training.data.decisions import Via
from training.trust.reviewers import (
    MOST_OF_A_REPORT,
    NEWCOMER,
    TRUSTED,
    weigh_reviewers,
    weight_of,
)


def weigh(decided):
    examples = [row.example for row in decided]
    return weigh_reviewers(decided, group_kin(examples, group_same(examples)))


def overruled(first, *, first_spam, by=OWNER, is_spam):
    """Return a comment on which one ruled, and then another."""
    at = MONDAY - timedelta(days=1)
    earlier = ruling(first, is_spam=first_spam, at=at, undone=True)
    return make_decided(is_spam=is_spam, by=by, earlier=(earlier,))


def both_ruled(one, other, *, agree, n):
    """Return copies of n texts, each ruled on by both."""
    rows = []
    for _ in range(n):
        text = some_words()
        rows += [
            make_decided(is_spam=True, by=one, text=text),
            make_decided(is_spam=agree, by=other, text=text),
        ]
    return rows


@given(st.floats(0, 500), st.floats(0, 500), st.floats(0.01, 50))
def test_agreement_never_lowers_and_disagreement_never_raises_a_weight(agreed, disagreed, more):
    weight = weight_of(agreed, disagreed)

    assert 0.0 <= weight < 1.0
    assert weight_of(agreed + more, disagreed) >= weight
    assert weight_of(agreed, disagreed + more) <= weight


@pytest.mark.parametrize(
    ("agreed", "disagreed", "weight"),
    [(0, 0, 0.2), (3, 0, 0.5), (10, 0, 0.73), (50, 0, 0.93), (10, 10, 0.04), (2, 10, 0.0)],
)
def test_weights_are_those_that_the_docstring_states(agreed, disagreed, weight):
    assert weight_of(agreed, disagreed) == pytest.approx(weight, abs=0.005)


def test_the_only_moderator_of_a_blog_counts_fully():
    reviewers = weigh([make_decided(is_spam=n % 2 == 0) for n in range(10)])

    assert reviewers[OWNER].weight == 1.0
    assert reviewers[OWNER].is_anchor


def test_the_only_one_counts_fully_without_an_owners_account_too():
    reviewers = weigh([make_decided(is_spam=True, by="jo", via=Via.API) for _ in range(5)])

    assert (reviewers["jo"].weight, reviewers["jo"].is_anchor) == (1.0, True)


def test_without_an_owner_whoever_ruled_first_is_believed_and_the_newcomer_hardly():
    late = [make_decided(is_spam=True, by="eve") for _ in range(50)]
    first = make_decided(is_spam=True, by="jo", at=MONDAY - timedelta(days=30))

    reviewers = weigh([*late, first])

    assert reviewers["jo"].weight == 1.0
    assert reviewers["eve"].weight == pytest.approx(NEWCOMER)


def test_an_import_or_a_report_is_never_the_word_that_begins_it_all():
    reviewers = weigh(
        [
            make_decided(is_spam=True, by="import", via=Via.IMPORT),
            make_decided(is_spam=True, by="report", via=Via.REPORT),
        ]
    )

    assert not any(one.is_anchor for one in reviewers.values())
    assert reviewers["import"].weight == pytest.approx(NEWCOMER)


def test_a_newcomer_rises_with_agreement_and_falls_to_nothing_without():
    agreeing = weigh(both_ruled(OWNER, "mo", agree=True, n=10))["mo"]
    disagreeing = weigh(both_ruled(OWNER, "eve", agree=False, n=10))["eve"]

    assert agreeing.weight == pytest.approx(weight_of(10, 0))
    assert (agreeing.is_trusted, disagreeing.is_trusted) == (True, False)
    assert disagreeing.weight == 0.0


def test_being_overruled_is_a_disagreement_and_correcting_oneself_is_not():
    rows = [overruled("eve", first_spam=True, is_spam=False) for _ in range(4)]
    rows += [overruled("mo", first_spam=True, by="mo", is_spam=False) for _ in range(4)]

    reviewers = weigh([*rows, make_decided(is_spam=True)])

    assert (reviewers["eve"].agreed, reviewers["eve"].disagreed) == (0, 4)
    assert (reviewers["mo"].agreed, reviewers["mo"].disagreed) == (0, 0)


def test_attackers_who_agree_with_each_other_stay_newcomers():
    sybils = [f"eve-{n}" for n in range(6)]
    rows = [row for one in sybils[1:] for row in both_ruled(sybils[0], one, agree=True, n=30)]

    reviewers = weigh([*rows, make_decided(is_spam=True)])

    assert [reviewers[one].weight for one in sybils] == [pytest.approx(NEWCOMER)] * 6


def test_who_was_vouched_for_vouches_for_others():
    rows = [*both_ruled(OWNER, "mo", agree=True, n=20), *both_ruled("mo", "ada", agree=True, n=20)]

    reviewers = weigh(rows)

    assert reviewers["ada"].weight > TRUSTED
    assert reviewers["ada"].weight < reviewers["mo"].weight


def test_a_campaign_that_two_ruled_on_counts_once_however_large():
    rows = [make_decided(is_spam=True, campaign="camp") for _ in range(50)]
    rows += [make_decided(is_spam=True, by="eve", campaign="camp") for _ in range(50)]

    assert weigh(rows)["eve"].agreed == pytest.approx(1.0)


def test_the_audit_sample_shows_that_somebody_rules_in_earnest_and_no_more():
    def audited(by, *, is_spam, n):
        return [
            make_decided(is_spam=is_spam, by=by, outcome=Outcome.HAM, p_spam=0.01, audit=True)
            for _ in range(n)
        ]

    rows = [*audited("mo", is_spam=False, n=100), *audited("eve", is_spam=True, n=100)]

    reviewers = weigh([*rows, make_decided(is_spam=True)])

    assert reviewers["mo"].agreed == pytest.approx(10.0)
    assert TRUSTED < reviewers["mo"].weight < 0.75
    assert reviewers["eve"].weight == 0.0


def test_contradicting_a_confident_verdict_that_one_went_and_looked_for_costs_nothing():
    rows = [
        make_decided(is_spam=True, by="mo", outcome=Outcome.HAM, p_spam=0.01) for _ in range(20)
    ]

    reviewers = weigh([*rows, make_decided(is_spam=True)])

    assert reviewers["mo"].disagreed == 0


def test_a_report_that_decides_stays_near_a_newcomer_and_vouches_for_nobody():
    rows = []
    for _ in range(40):
        text = some_words()
        rows += [
            make_decided(is_spam=True, text=text),
            make_decided(is_spam=True, by="report", via=Via.REPORT, text=text),
        ]
    for _ in range(40):
        text = some_words()
        rows += [
            make_decided(is_spam=True, by="report", via=Via.REPORT, text=text),
            make_decided(is_spam=True, by="eve", text=text),
        ]

    reviewers = weigh(rows)

    assert reviewers["report"].weight == MOST_OF_A_REPORT
    assert reviewers["eve"].weight == pytest.approx(NEWCOMER)


@given(st.permutations(range(12)))
def test_the_order_of_the_decisions_does_not_matter(order):
    rows = [
        *both_ruled(OWNER, "mo", agree=True, n=3),
        *both_ruled("mo", "eve", agree=False, n=3),
    ]

    weights = {name: one.weight for name, one in weigh(rows).items()}
    again = {name: one.weight for name, one in weigh([rows[i] for i in order]).items()}

    assert again == pytest.approx(weights)
