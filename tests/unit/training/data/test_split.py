"""Nothing related lies on both sides of a split."""

from __future__ import annotations

from tests.factories import make_comment
from training.data.dataset import Example
from training.data.split import group_examples

ADVERT = "order your cheap and very reliable watches today at the shop of my brother in town"


def make_example(text: str, post_key: str, campaign: str | None = None) -> Example:
    return Example(
        comment=make_comment(text),
        is_spam=True,
        source="test",
        post_key=post_key,
        campaign=campaign,
    )


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
