"""What the vector of a comment depends on."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from models.counted import COUNTED_SLOTS, count_properties, hide_title
from models.features import count_features, count_vectors
from models.inputs import ModelInput
from models.linear import LinearTable
from models.text import TITLE_WORD

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


@pytest.mark.parametrize("field", ["text", "post_title", "post_excerpt", "author_host"])
def test_every_field_but_the_name_counts(field):
    assert not _same(PLAIN, dataclasses.replace(PLAIN, **{field: "something else"}))
    assert _same(PLAIN, dataclasses.replace(PLAIN, author_name="Cheap SEO Agency"))


def test_longer_words_of_the_title_vouch_for_nothing():
    one, other = (
        ModelInput(text=f"{title}, how clever! I like it.", post_title=title)
        for title in ("Composable iterators", "Parametric selectors")
    )

    assert _same(one, other)


def test_a_title_s_word_is_known_by_its_beginning():
    title = "Configuring interfaces in clouds"

    assert hide_title(title, "an interface in the clouds \ue000com") == (
        f"an {TITLE_WORD} in the {TITLE_WORD} \ue000com"
    )
    assert hide_title(title, "nothing of it") == "nothing of it"


def test_a_title_of_the_sender_s_choice_hides_no_advertisement():
    text = "Cheapest casino bonus without deposit"
    written = count_features(ModelInput(text=text))
    words = written.ids >= COUNTED_SLOTS
    table = LinearTable(
        ids=written.ids[words], coefficients=np.full(int(words.sum()), 0.5), intercept=-1.0
    )
    repeated = count_vectors(ModelInput(text=text, post_title=text))

    assert table.sum_of(repeated[0]) < -0.5
    assert table.highest_of(repeated) == table.sum_of(written) > 0.5


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
