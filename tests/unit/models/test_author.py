"""What the vector of an author's name depends on, and that no name takes long."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.author import MAX_NAME_CHARS, count_name
from models.counted import COUNTED_SLOTS
from models.features import DIMENSIONS
from models.inputs import ModelInput

PLAIN = ModelInput(text="The valve was stuck.", post_title="Bleeding a radiator")


def named(name: str, **changes) -> ModelInput:
    return dataclasses.replace(PLAIN, author_name=name, **changes)


def same(one: ModelInput, other: ModelInput) -> bool:
    first, second = count_name(one), count_name(other)
    return np.array_equal(first.ids, second.ids) and np.array_equal(first.values, second.values)


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
        ("Mara", "MARA"),
        ("Mara Lind", "Mara_Lind"),
        ("watches", "watches.shop"),
        ("Mara", "Mara7"),
        ("Mara", "Мара"),
    ],
)
def test_the_shape_of_a_name_counts(name, other):
    assert shape(named(name)) != shape(named(other))


@pytest.mark.parametrize(
    "agreeing",
    [
        {"author_host": "www.cheapwatches.example"},
        {"text": "The best watches there are."},
        {"post_title": "Watches of the year"},
    ],
)
def test_a_name_that_agrees_with_host_text_or_title_says_more(agreeing):
    plain = named("Watches", author_host="mara.example")

    assert shape(dataclasses.replace(plain, **agreeing)) - shape(plain)


def test_the_shape_of_a_name_is_the_same_in_every_release():
    # Fixed for a format: other places would make every version of it wrong.
    ids = count_name(named("Best Watches 24", author_host="watches.com", text="watches")).ids

    assert [one for one in ids.tolist() if one < COUNTED_SLOTS] == [2, 6, 11, 21, 23]


def test_a_disguised_name_is_read_as_the_plain_one():
    assert same(named("ｍａｒａ"), named("mara"))


def test_only_the_beginning_of_a_name_of_a_megabyte_is_read():
    long = "cheap watches " * 80_000

    assert same(named(long), named(long[:MAX_NAME_CHARS]))
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
        assert same(one, one)
