"""What the vectors of a comment and of its author's name depend on."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.author import MAX_NAME_CHARS, count_name
from models.counted import COUNTED_SLOTS, count_properties, hide_title
from models.features import DIMENSIONS, count_features, count_vectors
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


def _same(one: ModelInput, other: ModelInput, count=count_features) -> bool:
    first, second = count(one), count(other)
    return np.array_equal(first.ids, second.ids) and np.array_equal(first.values, second.values)


@pytest.mark.parametrize("field", ["text", "post_title", "post_excerpt"])
def test_the_text_and_its_post_count(field):
    assert not _same(PLAIN, dataclasses.replace(PLAIN, **{field: "something else"}))


@pytest.mark.parametrize(
    "of_author", [{"author_name": "Cheap SEO Agency"}, {"author_host": "cheap-seo.com"}]
)
def test_name_and_homepage_of_the_author_count_nothing(of_author):
    assert _same(PLAIN, dataclasses.replace(PLAIN, **of_author))


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


BY_NOBODY = ModelInput(text="The valve was stuck.", post_title="Bleeding a radiator")


def named(name: str, **changes) -> ModelInput:
    return dataclasses.replace(BY_NOBODY, author_name=name, **changes)


def shape(inputs: ModelInput) -> set[int]:
    """Return which properties of a name are true."""
    return {place for place in count_name(inputs).ids.tolist() if place < COUNTED_SLOTS}


@pytest.mark.parametrize("name", ["", "  ", "\t\n", "\u3000"])
def test_without_a_name_there_is_no_vector(name):
    assert count_name(named(name)) is None


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("mara", "Mara"),
        ("Mara Lind", "Mara_Lind"),
        ("Mara", "Mara7"),
        ("Mara", "Мара"),
    ],
)
def test_the_shape_of_a_name_counts(name, other):
    assert shape(named(name)) != shape(named(other))


def test_the_shape_of_a_name_is_the_same_in_every_release():
    # Fixed for a format: other places would make every version of it wrong.
    ids = count_name(named("Best Watches 24", text="watches")).ids

    assert [one for one in ids.tolist() if one < COUNTED_SLOTS] == [2, 6, 11, 23]


def test_a_disguised_name_is_read_as_the_plain_one():
    assert _same(named("ｍａｒａ"), named("mara"), count_name)


def test_only_the_beginning_of_a_name_of_a_megabyte_is_read():
    long = "cheap watches " * 80_000

    assert _same(named(long), named(long[:MAX_NAME_CHARS]), count_name)
    # One character may stand for eighteen (U+FDFA): bounded still.
    assert len(count_name(named("\ufdfa" * 1_000_000)).ids) < 20 * 4 * MAX_NAME_CHARS


odd_names = st.sampled_from(
    ["\ud800", "\x00\x01", "\u200b\u200d", "👍🏽" * 50, "a\u0301" * 60, "\u202eevil", "۱۲۳", "ß.İ"]
)


@given(odd_names | st.text(min_size=1).filter(str.strip))
def test_whatever_a_name_holds_it_has_one_vector(name):
    one = named(name, author_host="\ud800" * 300, text="\ud800 " + name)

    found = count_name(one)

    if found is not None:
        assert np.isfinite(found.values).all()
        assert (np.diff(found.ids) > 0).all()
        assert 0 <= found.ids.min() <= found.ids.max() < DIMENSIONS
        assert _same(one, one, count_name)
