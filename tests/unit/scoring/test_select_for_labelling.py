"""Which waiting comments are chosen to be decided first."""

from __future__ import annotations

from collections import Counter

import pytest

from service.scoring.select_for_labelling import (
    MAX_CANDIDATES,
    MOST_OF_A_KIND,
    Candidate,
    doubt_of,
    select_for_labelling,
)


def make(name: str, **changes) -> Candidate:
    values = {
        "comment_id": name,
        "site_id": "site-1",
        "p_spam": 0.6,
        "ham_cutoff": 0.02,
        "spam_cutoff": 0.99,
        "kinds": frozenset(),
        "words": frozenset(f"{name} {n}" for n in range(5)),
        "signals": frozenset(),
    }
    return Candidate(**(values | changes))


def test_doubt_is_greatest_halfway_between_the_cutoffs_in_log_odds():
    at = [doubt_of(make("a", p_spam=p)) for p in (0.02, 0.1, 0.5873, 0.95, 0.99, 0.999)]

    assert at[2] == pytest.approx(1.0, abs=0.01)
    assert at[0] == pytest.approx(0.0)
    assert at[4] == pytest.approx(0.0)
    assert at[5] == 0.0
    assert at[0] < at[1] < at[2] > at[3] > at[4]


@pytest.mark.parametrize("cutoffs", [(0.5, 0.5), (0.0, 0.0), (1.0, 1.0)])
def test_cutoffs_without_anything_between_them_leave_no_doubt(cutoffs):
    low, high = cutoffs

    assert doubt_of(make("a", ham_cutoff=low, spam_cutoff=high)) == 0.0


def test_doubtful_comments_come_first():
    sure = [make(f"sure{n}", p_spam=0.03) for n in range(5)]

    chosen = select_for_labelling([*sure, make("doubtful", p_spam=0.6)], most=3)

    assert chosen[0] == "doubtful"


@pytest.mark.parametrize("kind", ["campaign:1", "name:ada", "domain:x"])
def test_few_of_a_kind_are_chosen(kind):
    alike = [make(f"wave{n}", kinds=frozenset([kind])) for n in range(30)]
    others = [make(f"other{n}", p_spam=0.1) for n in range(4)]

    chosen = select_for_labelling([*alike, *others])

    assert sum(name.startswith("wave") for name in chosen) == MOST_OF_A_KIND
    assert set(chosen) >= {one.comment_id for one in others}


def test_a_copy_of_what_was_chosen_comes_after_what_is_unlike_it():
    words = frozenset(["cheap", "radiators", "here"])
    copies = [make(f"copy{n}", words=words) for n in range(3)]

    chosen = select_for_labelling([*copies, make("other", p_spam=0.3)], most=2)

    assert set(chosen) == {"copy0", "other"}


def test_a_new_domain_goes_before_an_equal_comment_without_one():
    chosen = select_for_labelling([make("known"), make("new", is_new=True)], most=1)

    assert chosen == ("new",)


def test_no_site_gets_more_than_twice_its_share():
    busy = [make(f"busy{n}") for n in range(30)]
    quiet = [make(f"{site}{n}", site_id=site, p_spam=0.05) for site in "abc" for n in range(9)]

    chosen = select_for_labelling([*busy, *quiet], most=12)

    counted = Counter(name[:4] == "busy" for name in chosen)
    assert counted == {True: 6, False: 6}


def test_the_same_candidates_give_the_same_choice_and_only_the_first_are_looked_at():
    some = [make(f"c{n}", p_spam=0.02 + n / 2_000) for n in range(MAX_CANDIDATES + 50)]

    chosen = select_for_labelling(some)

    assert chosen == select_for_labelling(list(some))
    assert set(chosen) <= {one.comment_id for one in some[:MAX_CANDIDATES]}
    assert len(set(chosen)) == len(chosen) == 40


def test_nothing_that_waits_gives_nothing():
    assert select_for_labelling([]) == ()


def test_comments_without_any_word_are_chosen_like_others():
    chosen = select_for_labelling([make("a", words=frozenset()), make("b", words=frozenset())])

    assert chosen == ("a", "b")
