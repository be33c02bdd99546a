"""Nothing related lies on both sides of a split."""

from __future__ import annotations

import numpy as np
import pytest

from tests.factories import make_comment
from training.data.dataset import Example
from training.data.split import assign_folds, find_copies, group_examples

ADVERT = "order your cheap and very reliable watches today at the shop of my brother in town"


def make_example(text: str, post_key: str, campaign: str | None = None) -> Example:
    return Example(
        comment=make_comment(text),
        is_spam=True,
        source="test",
        post_key=post_key,
        campaign=campaign,
    )


def test_the_same_text_in_other_spelling_is_a_copy():
    texts = [
        ADVERT,
        "something else altogether, with enough words to be told apart",
        ADVERT.upper(),
    ]

    assert find_copies(texts) == [(0, 2)]


def test_a_text_with_a_few_words_changed_is_a_copy():
    texts = [ADVERT, f"Hello! {ADVERT}, thanks"]

    assert find_copies(texts) == [(0, 1)]


def test_short_texts_are_the_same_by_chance():
    assert find_copies(["thanks, great post!"] * 3) == []


def test_a_post_a_campaign_and_copied_texts_are_one_group_each():
    examples = [
        make_example("one", "post-a"),
        make_example("two", "post-a"),
        make_example("three", "post-b", campaign="c1"),
        make_example("four", "post-c", campaign="c1"),
        make_example(ADVERT, "post-d"),
        make_example(f"{ADVERT}!!", "post-e"),
        make_example("five", "post-f"),
    ]

    groups = group_examples(examples).tolist()

    assert groups[0] == groups[1]
    assert groups[2] == groups[3]
    assert groups[4] == groups[5]
    assert len(set(groups)) == 4


def test_groups_stay_whole_and_folds_are_even():
    groups = np.repeat(np.arange(40), np.arange(40) % 5 + 1)

    folds = assign_folds(groups, n_folds=4, seed=1)

    assert [len(set(folds[groups == group].tolist())) for group in range(40)] == [1] * 40
    assert np.ptp(np.bincount(folds)) <= 5


def test_the_seed_alone_decides_the_folds():
    groups = np.arange(50)

    first = assign_folds(groups, n_folds=5, seed=1)

    assert (assign_folds(groups, n_folds=5, seed=1) == first).all()
    assert (assign_folds(groups, n_folds=5, seed=2) != first).any()


def test_too_few_groups_are_refused():
    with pytest.raises(ValueError, match="at least as many groups"):
        assign_folds(np.array([1, 1, 2]), n_folds=3, seed=1)
