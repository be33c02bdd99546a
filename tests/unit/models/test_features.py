"""What the vector of a comment depends on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from models.counted import count_properties
from models.features import DIMENSIONS, count_features, count_text
from models.inputs import ModelInput

PLAIN = ModelInput(
    text="The radiator valve was stuck, https://parts.example has new ones.",
    post_title="Bleeding a radiator",
    post_excerpt="Which valve to turn.",
    author_name="Mara",
    author_host="mara.example",
)


def _same(one: ModelInput, other: ModelInput) -> bool:
    first, second = count_features(one), count_features(other)
    return np.array_equal(first.ids, second.ids) and np.array_equal(first.values, second.values)


def test_ids_rise_and_stay_in_range():
    ids = count_features(PLAIN).ids

    assert (np.diff(ids) > 0).all()
    assert ids.min() >= 0
    assert ids.max() < DIMENSIONS


def test_the_same_comment_has_the_same_vector():
    assert _same(PLAIN, dataclasses.replace(PLAIN))


@pytest.mark.parametrize("field", ["text", "post_title", "post_excerpt", "author_host"])
def test_every_field_but_the_name_counts(field):
    assert not _same(PLAIN, dataclasses.replace(PLAIN, **{field: "something else"}))


def test_the_author_s_name_counts_for_nothing():
    assert _same(PLAIN, dataclasses.replace(PLAIN, author_name="Cheap SEO Agency"))


def test_an_empty_comment_has_a_vector():
    assert len(count_features(ModelInput(text="")).ids) > 0


def test_a_text_of_one_character_has_a_vector():
    assert len(count_text("👍").ids) > 0


def test_hashing_is_the_same_in_every_process_and_release():
    # Fixed for a format: other numbers would make every version of it wrong.
    hashed = [one for one in count_features(ModelInput(text="abc")).ids.tolist() if one >= 64]

    assert hashed == [
        *(42657, 84795, 152506, 184357, 433928, 511024, 628516, 843433),
        *(945915, 956388, 1026196, 1046834),
    ]


def test_a_disguise_leaves_the_words_and_is_counted_itself():
    plain = count_properties(ModelInput(text="cheap casino"), "cheap casino")
    disguised = count_properties(ModelInput(text="ｃｈｅａｐ c\u0430sino"), "cheap casino")

    assert plain[:-1] == disguised[:-1]
    assert plain[-1] == 0.0 < disguised[-1] <= 1.0
