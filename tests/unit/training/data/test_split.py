"""Nothing related lies on both sides of a split."""

from __future__ import annotations

from tests.unit.training.decided import make_example
from training.data.split import group_examples

ADVERT = "order your cheap and very reliable watches today at the shop of my brother in town"


def example(text: str, post_key: str, **changes):
    return make_example(is_spam=True, text=text, post_key=post_key, **changes)


def test_a_post_a_campaign_and_copied_texts_are_one_group_each():
    examples = [
        example("one", "post-a"),
        example("two", "post-a"),
        example("three", "post-b", campaign="c1"),
        example("four", "post-c", campaign="c1"),
        example(ADVERT, "post-d"),
        example(f"{ADVERT}!!", "post-e"),
        example("five", "post-f"),
    ]

    groups = group_examples(examples).tolist()

    assert groups[0] == groups[1]
    assert groups[2] == groups[3]
    assert groups[4] == groups[5]
    assert len(set(groups)) == 4
