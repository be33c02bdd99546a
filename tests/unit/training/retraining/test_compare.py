"""When a candidate may take the current version's place."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import training
from training.retraining.compare import (
    Criteria,
    Part,
    Scored,
    compare,
    recall_difference,
)

CRITERIA = Criteria(resamples=200)
N_HAM, N_SPAM = 1_000, 400


def scored(p_spam, **changes) -> Scored:
    return Scored(**({"p_spam": p_spam, "ham_cutoff": 0.05, "spam_cutoff": 0.95} | changes))


def make_part(candidate=None, *, name="core", slices=None) -> Part:
    """Return a part on which the current version catches half the spam and loses one ham."""
    current = np.concatenate([np.linspace(0.01, 0.5, N_HAM), np.linspace(0.2, 0.99, N_SPAM)])
    current[10] = 0.97
    made = current.copy() if candidate is None else candidate(current.copy())
    return Part(
        name=name,
        ids=[f"c{i}" for i in range(current.size)],
        is_spam=np.arange(current.size) >= N_HAM,
        current=scored(current),
        candidate=scored(made),
        slices=slices or {},
    )


def failed(comparison) -> list[str]:
    return [check.name for check in comparison.checks if not check.passed]


def with_more_spam_caught(p):
    p[N_HAM : N_HAM + 200] = 0.98
    return p


def test_a_candidate_that_catches_more_and_loses_no_ham_is_promoted():
    comparison = compare([make_part(with_more_spam_caught)], CRITERIA)

    assert comparison.promote
    assert failed(comparison) == []
    assert comparison.newly_lost == ()
    assert any("recall" in gain for gain in comparison.gains)


def test_the_same_again_is_refused_for_want_of_a_gain():
    comparison = compare([make_part()], CRITERIA)

    assert not comparison.promote
    assert failed(comparison) == []
    assert comparison.gains == ()


def test_one_more_ham_lost_refuses_whatever_else_is_better():
    def worse(p):
        p[20] = 0.99
        return with_more_spam_caught(p)

    comparison = compare([make_part(worse)], CRITERIA)

    assert not comparison.promote
    assert failed(comparison) == ["ham called spam"]
    assert comparison.newly_lost == ("c20",)


def test_another_ham_lost_instead_is_named_for_a_person_to_read():
    def other(p):
        p[10], p[20] = 0.02, 0.99
        return with_more_spam_caught(p)

    comparison = compare([make_part(other)], CRITERIA)

    assert comparison.promote
    assert (comparison.newly_lost, comparison.no_longer_lost) == (("c20",), ("c10",))


def test_recall_lost_on_one_part_refuses_although_the_other_gained():
    def worse(p):
        p[N_HAM + 200 :] = 0.3
        return p

    comparison = compare(
        [make_part(with_more_spam_caught), make_part(worse, name="newest")], CRITERIA
    )

    assert not comparison.promote
    assert {c.part for c in comparison.checks if not c.passed} == {"newest"}


def test_a_slice_that_got_worse_refuses():
    language = ["en"] * N_HAM + ["de"] * 50 + ["en"] * (N_SPAM - 50)

    def worse_in_german(p):
        p[N_HAM + 200 :] = 0.98
        p[N_HAM : N_HAM + 50] = 0.02
        return p

    def base(p):
        p[N_HAM : N_HAM + 50] = 0.9
        return p

    part = make_part(worse_in_german, slices={"language": language})
    part = replace(part, current=scored(base(part.current.p_spam)))

    assert "recall, language de" in failed(compare([part], CRITERIA))


def test_missed_spam_that_became_more_refuses():
    def missing(p):
        p[N_HAM : N_HAM + 30] = 0.01
        return p

    assert "spam called ham" in failed(compare([make_part(missing)], CRITERIA))


def test_more_work_for_moderators_refuses():
    part = make_part()
    wide = replace(part, candidate=replace(part.candidate, ham_cutoff=0.0))

    assert "left to a person" in failed(compare([wide], CRITERIA))


def test_too_few_comments_say_nothing():
    part = make_part(with_more_spam_caught)
    rows = np.r_[0:30, N_HAM : N_HAM + 30]
    few = Part(
        name="newest",
        ids=[part.ids[i] for i in rows],
        is_spam=part.is_spam[rows],
        current=scored(part.current.p_spam[rows]),
        candidate=scored(part.candidate.p_spam[rows]),
    )

    assert "enough to tell" in failed(compare([few], CRITERIA))


def test_a_part_without_ham_cannot_be_compared():
    part = make_part()
    with pytest.raises(ValueError, match="spam and ham"):
        compare([replace(part, is_spam=np.ones(len(part.ids), dtype=bool))])
    with pytest.raises(ValueError, match="at least one part"):
        compare([])


def test_what_both_versions_share_cancels_out():
    part = make_part()

    assert recall_difference(part, CRITERIA, rate=0.01) == (0.0, 0.0)


def test_the_page_names_every_number_that_the_code_uses():
    page = (Path(training.__file__).parent / "RELEASE_CRITERIA.md").read_text()

    for one in fields(Criteria):
        if one.name != "seed":
            assert f"`{one.name}`" in page
    said = set(re.findall(r"[\d,.]+", page))
    assert {"100", "0.02", "1,000", "30", "10"} <= {word.rstrip(".,") for word in said}


def make_few(n_ham, n_spam, *, caught_before=0, caught_after=0, name="held") -> Part:
    """Return few decisions, of whose spam the versions call as many spam as stated."""
    current = np.full(n_ham + n_spam, 0.4)
    candidate = current.copy()
    current[n_ham : n_ham + caught_before] = 0.99
    candidate[n_ham : n_ham + caught_after] = 0.99
    return Part(
        name=name,
        ids=[f"{name}{i}" for i in range(current.size)],
        is_spam=np.arange(current.size) >= n_ham,
        current=scored(current),
        candidate=scored(candidate),
    )


def test_few_decisions_show_a_gain_where_the_core_stayed_as_it_was():
    comparison = compare([make_part()], CRITERIA, held=make_few(4, 9, caught_after=5))

    assert comparison.promote
    assert any(
        gain.startswith("held: of 9 spam called spam 0 before, 5") for gain in comparison.gains
    )


def test_four_more_of_few_decisions_may_be_chance():
    comparison = compare([make_part()], CRITERIA, held=make_few(4, 9, caught_after=4))

    assert not comparison.promote
    assert comparison.gains == ()


def test_what_is_gained_on_decisions_that_were_learnt_is_no_gain():
    learnt = make_few(10, 30, caught_after=30, name="learnt")

    comparison = compare([make_part()], CRITERIA, learnt=learnt)

    assert not comparison.promote
    assert comparison.gains == ()


@pytest.mark.parametrize("where", ["held", "learnt"])
def test_one_ham_newly_lost_among_few_decisions_refuses_though_another_is_lost_no_more(where):
    few = make_few(4, 9, caught_after=9, name=where)
    few.candidate.p_spam[0] = few.current.p_spam[1] = 0.99

    comparison = compare([make_part(with_more_spam_caught)], CRITERIA, **{where: few})

    assert not comparison.promote
    assert failed(comparison) == ["ham called spam"]
    assert comparison.newly_lost == (f"{where}0",)
    assert comparison.no_longer_lost == (f"{where}1",)


def test_few_decisions_do_not_excuse_a_core_that_got_worse():
    def worse(p):
        p[20] = 0.99
        return p

    comparison = compare([make_part(worse)], CRITERIA, held=make_few(4, 9, caught_after=9))

    assert not comparison.promote
    assert failed(comparison) == ["ham called spam"]


def test_few_decisions_of_one_label_and_none_at_all_are_no_mistake():
    held, none = make_few(0, 9, caught_after=6), make_few(0, 0, name="learnt")

    comparison = compare([make_part()], CRITERIA, held=held, learnt=none)

    assert comparison.promote
    assert {check.part for check in comparison.checks} == {"core", "held"}
