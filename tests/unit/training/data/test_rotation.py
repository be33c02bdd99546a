"""Whole sources are left out in turn, and nothing of what is left out teaches."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest

from tests.unit.training.decided import make_example, some_words
from training.data.rotation import (
    RotationConfig,
    assign_rotation,
    draw_epochs,
    training_rows,
    weight_for_words_of,
    weight_of,
)
from training.data.split import group_examples

CONFIG = RotationConfig(n_folds=3, most_of_source=20, most_of_other_place=5, most_of={"rich": 30})


def comments(source, spam, ham, **changes):
    labels = [True] * spam + [False] * ham
    return [make_example(is_spam=label, source=source, **changes) for label in labels]


def folds_of(examples, config=CONFIG) -> dict[str, set[int]]:
    folds = assign_rotation(examples, config)
    return {
        source: {int(f) for e, f in zip(examples, folds, strict=True) if e.source == source}
        for source in {e.source for e in examples}
    }


def test_a_public_source_lies_whole_in_one_fold_and_no_fold_is_without():
    examples = [e for n in range(7) for e in comments(f"blog{n}", 4 + n, 9)]

    found = folds_of(examples)

    assert all(len(folds) == 1 for folds in found.values())
    assert set.union(*found.values()) == {0, 1, 2}


def test_a_source_counts_for_no_more_than_an_epoch_draws_of_it():
    """One of 300 comments leaves room for as many others as one of 40."""
    examples = comments("large", 150, 150) + [
        e for n in range(5) for e in comments(f"blog{n}", 20, 20)
    ]

    found = folds_of(examples)

    assert Counter(fold for (fold,) in found.values()) == {0: 2, 1: 2, 2: 2}


@pytest.mark.parametrize("shared", [{"post_key": "p1"}, {"campaign": "authored-x/c1"}])
def test_authored_posts_and_campaigns_are_not_split(shared):
    together = [
        e
        for n in range(30)
        for e in comments("authored-x", 1, 0, **({"post_key": f"q{n}"} | shared))
    ]
    others = comments("authored-x", 30, 30)

    folds = assign_rotation([*others, *together], CONFIG)

    assert len(set(folds[60:].tolist())) == 1
    assert set(folds.tolist()) == {0, 1, 2}


def test_copies_of_what_is_held_back_never_teach():
    text = some_words()
    held = comments("blog0", 3, 3)
    copies = [
        make_example(is_spam=True, source="blog1", text=text),
        make_example(is_spam=True, source="blog1", text=f"{text} Indeed!"),
    ]
    examples = [make_example(is_spam=True, source="blog0", text=text), *held, *copies]
    examples += comments("blog1", 2, 2)
    folds = np.array([0] * 7 + [1] * 6)

    assert training_rows(examples, folds, 0) == [9, 10, 11, 12]
    assert training_rows(examples, folds, 1) == list(range(1, 7))
    # Of copies one stays.
    assert training_rows(examples, folds, None) == [*range(7), 9, 10, 11, 12]


def test_of_copies_with_both_labels_none_teaches_and_a_marked_one_is_kept():
    doubted, marked = some_words(), some_words()
    examples = [
        make_example(is_spam=True, source="a", text=doubted),
        make_example(is_spam=False, source="b", text=doubted),
        make_example(is_spam=True, source="a", text=marked),
        make_example(is_spam=True, source="b", text=marked, promo_spans=((0, 4),)),
    ]

    assert training_rows(examples, np.zeros(4, dtype=np.int64), None) == [3]


def test_each_epoch_draws_the_rest_of_a_source_up_to_its_bound():
    examples = [*comments("blog", 50, 10), *comments("rich", 50, 0), *comments("youtube", 12, 0)]
    examples += [*comments("authored-x", 60, 0), *comments("not taught", 9, 9)]

    drawn, again = (list(islice(draw_epochs(examples, range(182), CONFIG), 3)) for _ in range(2))

    assert again == drawn
    assert Counter((examples[i].source, examples[i].is_spam) for i in drawn[0]) == {
        ("blog", True): 20,
        ("blog", False): 10,
        ("rich", True): 30,
        ("youtube", True): 5,
        ("authored-x", True): 60,
    }
    of_blog = [{i for i in epoch if i < 50} for epoch in drawn]
    assert not of_blog[0] & of_blog[1]
    assert set.union(*of_blog) == set(range(50))


@pytest.mark.parametrize(
    ("source", "language", "weight", "share_of_words"),
    [
        ("blog", None, 1.0, 1.0),
        ("youtube", "en", 0.7, 0.3),
        ("authored-x", "en", 1.0, 1.0),
        ("authored-x", None, 1.0, 1.0),
        ("authored-x", "de", 1.5, 1.0),
    ],
)
def test_a_comment_and_its_words_count_by_where_it_was_said(
    source, language, weight, share_of_words
):
    one = make_example(is_spam=True, source=source, language=language)

    assert weight_of(one) == weight
    assert weight_for_words_of(one) == pytest.approx(share_of_words * weight)


def test_a_post_a_campaign_and_copied_texts_are_one_group_each():
    advert = "order your cheap and very reliable watches today at the shop of my brother in town"
    of_posts = [("one", "a"), ("two", "a"), ("five", "f"), (advert, "d"), (f"{advert}!!", "e")]
    examples = [make_example(is_spam=True, text=text, post_key=post) for text, post in of_posts]
    examples += [make_example(is_spam=True, campaign="c1") for _ in range(2)]

    groups = group_examples(examples).tolist()

    assert groups[0] == groups[1]
    assert groups[3] == groups[4]
    assert groups[5] == groups[6]
    assert len(set(groups)) == 4


def test_spam_and_ham_are_shared_out_evenly():
    examples = [e for n in range(6) for e in comments(f"blog{n}", 10, 10)]

    folds = assign_rotation(examples, CONFIG)

    assert Counter(folds.tolist()) == {0: 40, 1: 40, 2: 40}


def test_another_source_moves_no_authored_comment():
    authored = comments("authored-x", 20, 20)

    alone = assign_rotation(authored, CONFIG)

    beside = assign_rotation([*comments("blog", 9, 9), *authored], CONFIG)
    assert np.array_equal(beside[18:], alone)
