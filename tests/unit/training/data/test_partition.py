"""Nothing related lies in two parts, and what is tested on stays the same."""

from __future__ import annotations

import hashlib

import pytest

from tests.factories import make_comment
from training.baseline import BaselineConfig
from training.data.dataset import (
    DEFAULT_DATA,
    Dataset,
    Example,
    read_dataset,
)
from training.data.partition import Partition, partition

ADVERT = "order your cheap and very reliable watches today at the shop of my brother in town"
SEED = BaselineConfig().seed
# Whoever has to change this makes every figure on the authored test part incomparable.
FROZEN_IDS_SHA256 = "1243343b86c1dc52a9ceb0b3ee57458f8b9cdf665c70da1d29072ce90b382ab5"


def make_example(
    comment_id: str,
    source: str = "blog",
    *,
    text: str | None = None,
    post: str | None = None,
    is_spam: bool = False,
    campaign: str | None = None,
    promo_spans: tuple[tuple[int, int], ...] | None = None,
) -> Example:
    return Example(
        comment=make_comment(text or f"remark {comment_id}", id=comment_id),
        is_spam=is_spam,
        source=source,
        post_key=f"{source}/{post or comment_id}",
        campaign=campaign,
        promo_spans=promo_spans,
    )


def make_source(source: str, n: int = 200) -> list[Example]:
    return [make_example(f"{source}-{i}", source) for i in range(n)]


def split(*examples: Example, **changes) -> Partition:
    sources = {"test_sources": {"tested"}, "calibration_sources": {"calibrating"}}
    dataset = Dataset(examples=examples, files=())
    return partition(dataset, **({"seed": SEED} | sources | changes))


def ids(examples) -> set[str]:
    return {example.comment.id for example in examples}


def test_named_sources_go_whole_to_their_part():
    tested, calibrating = make_source("tested"), make_source("calibrating")

    parts = split(*tested, *calibrating, *make_source("blog"))

    assert ids(tested) == ids(parts.test)
    assert ids(calibrating) <= ids(parts.calibration)
    assert {example.source for example in parts.train} == {"blog"}


def test_a_source_that_nobody_named_is_trained_and_calibrated_on():
    parts = split(*make_source("mine", 1000))

    assert not parts.test
    assert 100 < len(parts.calibration) < 200
    assert len(parts.train) == 1000 - len(parts.calibration)


def test_authored_comments_written_after_versions_were_measured_are_learnt_from_alone():
    later = make_source("authored-t10", 100)

    parts = split(*make_source("authored-t1", 100), *later)

    assert ids(later) <= ids(parts.train)
    assert ids(parts.test) == ids(split(*make_source("authored-t1", 100)).test)


def test_authored_comments_are_drawn_for_all_three_parts():
    parts = split(*make_source("authored-t1", 1000))

    assert 100 < len(parts.test) < 200
    assert 100 < len(parts.calibration) < 200


def test_a_post_and_a_campaign_stay_whole():
    examples = [
        make_example(f"{post}-{i}", "authored-t1", post=f"p{post}", campaign=f"c{post // 2}")
        for post in range(60)
        for i in range(3)
    ]

    parts = split(*examples)

    campaigns = [
        {e.campaign for e in part} for part in (parts.train, parts.calibration, parts.test)
    ]
    assert all(campaigns)
    assert sum(map(len, campaigns)) == 30


def test_other_sources_move_no_comment_to_another_part():
    authored, blog = make_source("authored-t1"), make_source("blog")

    alone = split(*authored)
    together = split(*blog, *reversed(authored), *make_source("tested"))

    assert ids(alone.test) == ids(together.test) - ids(make_source("tested"))
    assert ids(alone.calibration) == ids(together.calibration) & ids(authored)


def test_a_group_that_is_most_of_its_source_is_trained_on():
    parts = [
        split(*[make_example(f"v{n}-{i}", f"v{n}", post="p") for i in range(9)]) for n in range(40)
    ]

    assert not any(part.calibration for part in parts)


def test_copies_of_a_test_comment_are_in_no_other_part():
    parts = split(
        make_example("t", "tested", text=ADVERT),
        make_example("c", "calibrating", text=ADVERT.upper()),
        make_example("x", text=f"Hello! {ADVERT}, thanks"),
        make_example("y", text="something else altogether, with enough words to be told apart"),
    )

    assert ids(parts.test) == {"t"}
    assert set(parts.dropped) == {"c", "x"}
    assert set(parts.dropped.values()) == {"copy of a test comment"}


def test_copies_of_a_calibration_comment_are_not_trained_on():
    parts = split(
        make_example("c", "calibrating", text=ADVERT),
        make_example("x", text=ADVERT),
    )

    assert ids(parts.calibration) == {"c"}
    assert parts.dropped == {"x": "copy of a calibration comment"}


def test_of_repeats_in_train_the_one_with_marked_promotion_is_kept():
    repeats = [
        make_example("a", "v", text=ADVERT, is_spam=True, post="p"),
        make_example("b", "v", text=ADVERT, is_spam=True, post="p", promo_spans=((0, 5),)),
        make_example("c", "v", text=ADVERT, is_spam=True, post="p"),
    ]

    parts = split(*repeats)

    assert ids(parts.train) == {"b"}
    assert set(parts.dropped) == {"a", "c"}


def test_the_same_text_under_both_labels_teaches_nothing():
    parts = split(
        make_example("a", "v", text=ADVERT, post="p", is_spam=True),
        make_example("b", "v", text=ADVERT, post="p"),
    )

    assert not parts.train
    assert set(parts.dropped) == {"a", "b"}
    assert len(set(parts.dropped.values())) == 1


def test_a_few_words_that_anybody_says_are_kept():
    parts = split(
        make_example("t", "tested", text="Thanks, great post!"),
        make_example("x", "v", text="thanks, great post!", post="p"),
        make_example("y", "v", text="thanks, great post!", post="p"),
    )

    assert not parts.dropped


def test_a_few_words_with_a_link_are_copied():
    parts = split(
        make_example("t", "tested", text="Visit https://watches.example today"),
        make_example("x", text="visit https://watches.example  today"),
        make_example("y", text="visit https://radiators.example today"),
    )

    assert set(parts.dropped) == {"x"}


def test_a_source_cannot_be_for_both():
    with pytest.raises(ValueError, match="tested"):
        split(calibration_sources={"tested"})


def test_an_empty_data_set_has_three_empty_parts():
    parts = split()

    assert (parts.train, parts.calibration, parts.test) == ((), (), ())


def test_the_authored_test_part_is_frozen():
    files = sorted(DEFAULT_DATA.glob("authored-t[1-8].jsonl"))

    parts = partition(read_dataset(files), seed=SEED)

    frozen = "\n".join(sorted(ids(parts.test))).encode()
    assert hashlib.sha256(frozen).hexdigest() == FROZEN_IDS_SHA256
