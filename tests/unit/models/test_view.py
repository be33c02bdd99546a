"""What the network reads of a text, and where in the original it stands."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from models.text import MAX_WINDOW_CHARS
from models.undisguise import undisguise
from models.view import view_text

any_text = st.text(st.characters(codec=None), max_size=200)
links = st.sampled_from(
    ["https://a.example", "HTTP://www.b.example/x-y_z/1?q=2", "www.c.example/", "http://"]
)
text_with_links = st.lists(any_text | links, max_size=6).map("".join)


def seen(text: str, words: str) -> str:
    """Return what of the original the words of its view stand for."""
    view = view_text(text)
    start = view.text.index(words)
    first, last = view.original(start, start + len(words))
    return text[first:last]


def test_a_link_is_cut_to_its_host_and_a_few_words():
    text = "see https://www.shop.example/cheap-watches/buy_now?id=1&ref=two-hundred-more-words ok"

    assert view_text(text).text == "see  http shop.example cheap watches buy now id 1 re  ok"


def test_any_word_of_a_link_stands_for_the_whole_link():
    link = "https://shop.example/cheap-watches"

    assert seen(f"before {link} after", "watches") == link
    assert seen(f"before {link} after", "http") == link


@given(text_with_links)
def test_every_segment_of_a_view_lies_inside_the_text_and_in_order(text):
    view = view_text(text)

    places = [view.original(i, i + 1) for i in range(len(view.text))]

    assert all(0 <= start <= end <= len(text) for start, end in places)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(places))


@given(st.text(max_size=300).filter(lambda text: "://" not in text and "www" not in text.lower()))
def test_a_text_without_links_and_disguises_is_its_own_view(text):
    assume(undisguise(text).text == text)

    view = view_text(text)

    assert view.text == text
    assert [view.original(i, i + 1) for i in range(len(text))] == [
        (i, i + 1) for i in range(len(text))
    ]


def test_of_a_long_text_both_ends_are_read_where_they_stand():
    text = "first words " + "x" * 50_000 + " last words"

    view = view_text(text)

    assert len(view.text) == MAX_WINDOW_CHARS + 1
    assert view.text.startswith("first words")
    assert view.text.endswith("last words")
    end = len(view.text)
    assert view.original(end - len("last words"), end) == (len(text) - 10, len(text))


def test_a_link_at_the_very_end_of_a_long_text_is_seen():
    text = "word " * 20_000 + "https://shop.example/x"

    assert seen(text, "shop.example") == "https://shop.example/x"


@pytest.mark.parametrize(
    "piece",
    ["https://", "www.", "http://a", "https://a/" + "-" * 60, "://", "-_", "\ud800", "\u0301", " "],
)
def test_a_hostile_megabyte_is_read_at_its_ends_and_no_longer(piece):
    text = piece * (1_000_000 // len(piece))

    view = view_text(text)

    assert len(view.text) <= 2 * MAX_WINDOW_CHARS
    assert view.original(0, len(view.text)) == (0, len(text))
