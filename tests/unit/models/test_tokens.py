"""How a comment becomes the windows of tokens that the network reads."""

import json
import random

import pytest

from models.inputs import ModelInput
from models.text import MAX_WINDOW_CHARS
from models.tokens import MAX_WINDOWS, OVERLAP_TOKENS, WINDOW_TOKENS, CommentTokeniser, Window


def words_of(text: str, window: Window) -> list[str]:
    return [text[start:end].strip() for start, end in window.spans]


def long_text(words: int) -> str:
    """Return a text of short words, one token each."""
    known = ["water", "house", "river", "green", "seven", "table", "people", "good"]
    return " ".join(random.Random(7).choices(known, k=words))


def test_title_name_and_host_come_before_the_text_each_with_its_mark(tokeniser, tokeniser_json):
    vocabulary = json.loads(tokeniser_json)["model"]["vocab"]
    (window,) = tokeniser.windows(
        ModelInput(
            text="thank you",
            post_title="green house",
            author_name="peter",
            author_host="shop.com",
        )
    )

    # Without the mark of a word's beginning.
    tokens = [vocabulary[number][0].strip("▁") for number in window.ids]
    assert tokens == [
        *("[CLS]", "green", "house", "[SEP]"),
        *("peter", "[SEP]"),
        *("shop", ".", "com", "[SEP]"),
        *("thank", "you", "[SEP]"),
    ]
    assert tokens[window.n_context :] == ["thank", "you", "[SEP]"]


def test_a_long_title_takes_no_room_from_the_comment(tokeniser):
    (short,) = tokeniser.windows(ModelInput(text="thank you"))
    (window,) = tokeniser.windows(
        ModelInput(
            text="thank you",
            post_title="word " * 9_000,
            author_name="name " * 9_000,
            author_host="host." * 9_000,
        )
    )

    assert window.spans == short.spans
    assert len(window.ids) <= 60


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Café NOËL", ["Café", "NOËL"]),
        ("Cafe\u0301 water", ["Cafe", "water"]),
        ("𝐜𝐡𝐞𝐚𝐩 watch", ["𝐜𝐡𝐞𝐚𝐩", "watch"]),
        ("谢谢 you", ["谢", "谢", "you"]),
        ("a\tb\nc", ["a", "b", "c"]),
        ("green 👍 house", ["green", "👍", "house"]),
        ("one \ud800 two", ["one", "\ud800", "two"]),
        ("one\0two", ["one", "two"]),
    ],
)
def test_spans_name_the_words_of_the_original(tokeniser, text, words):
    (window,) = tokeniser.windows(ModelInput(text=text))

    covered = sorted({place for start, end in window.spans for place in range(start, end)})
    seen = "".join(text[place] for place in covered).replace("\0", " ")
    assert "".join(seen.split()) == "".join(words)


def test_a_long_comment_gives_windows_that_overlap_and_cover_all_of_it(tokeniser):
    text = long_text(900)

    windows = tokeniser.windows(ModelInput(text=text, post_title=long_text(90)))

    assert 1 < len(windows) <= MAX_WINDOWS
    read = sorted({span for window in windows for span in window.spans})
    assert [text[start:end].strip() for start, end in read] == text.split()
    assert {len(window.spans) for window in windows} == {WINDOW_TOKENS}
    assert all(len(w.ids) == w.n_context + WINDOW_TOKENS + 1 for w in windows)


def test_of_too_many_windows_the_first_two_and_the_last_two_are_kept(tokeniser):
    # A bracket is a token of its own, so that the ends that are read hold 8,000.
    text = "([" * 30_000

    windows = tokeniser.windows(ModelInput(text=text))

    assert len(windows) == MAX_WINDOWS
    assert windows[0].spans[0] == (0, 1)
    assert windows[1].spans[0][0] == WINDOW_TOKENS - OVERLAP_TOKENS
    assert windows[-1].spans[-1] == (len(text) - 1, len(text))
    assert windows[-2].spans[0][0] > len(text) - MAX_WINDOW_CHARS // 2


def test_of_too_many_windows_one_with_a_link_is_kept(tokeniser):
    link = "https://shop.example/x"
    plain = "([" * 1_500
    text = f"{plain} {link} {plain}"

    windows = tokeniser.windows(ModelInput(text=text))

    assert len(windows) == MAX_WINDOWS
    assert any(link in words_of(text, window) for window in windows)


@pytest.mark.parametrize("content", ["", "no JSON", "{}", "[]"])
def test_a_file_that_is_no_tokeniser_or_has_other_marks_is_refused(tokeniser_json, content):
    with pytest.raises(ValueError, match="tokeniser's file"):
        CommentTokeniser(content)
    with pytest.raises(ValueError, match=r"no \[CLS\] and \[SEP\]"):
        CommentTokeniser(tokeniser_json.replace("[SEP]", "[END]"))
