"""Sentences, words, cues and plain text keep exact offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.undisguise import undisguise
from service.signals.cues import Cue
from service.signals.text import find_sentences, find_words, plain_of
from service.signals.view import view_of_text


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Ana came, e.g. at 3.5 bar. Good.", ["Dr. Ana came, e.g. at 3.5 bar.", "Good."]),
        ("面白い記事。参考になる！また来ます", ["面白い記事。", "参考になる！", "また来ます"]),
        ("बहुत अच्छा। धन्यवाद", ["बहुत अच्छा।", "धन्यवाद"]),
        ("first line\nsecond line", ["first line", "second line"]),
        ("I wonder... maybe not. Yes.", ["I wonder... maybe not.", "Yes."]),
        ("nice skills.Visit us", ["nice skills.", "Visit us"]),
        ("1. Open it.\n2. Close it.", ["1. Open it.", "2. Close it."]),
        ("Lovely! 😀 Thanks", ["Lovely!", "😀 Thanks"]),
    ],
)
def test_cuts_sentences_of_any_script(text, sentences):
    assert [text[a:b] for a, b in find_sentences(text)] == sentences


def test_cuts_no_sentence_inside_a_link():
    view = view_of_text("See https://a.com/x.html?q=1. Then rest.")

    cut = [view.text[a:b] for a, b in view.sentences]

    assert cut == ["See https://a.com/x.html?q=1.", "Then rest."]


@given(st.text(max_size=200))
def test_sentences_are_ordered_and_inside_the_text(text):
    ranges = find_sentences(text)

    assert all(0 <= a < b <= len(text) for a, b in ranges)
    assert all(ranges[i][1] <= ranges[i + 1][0] for i in range(len(ranges) - 1))


def test_plain_text_leads_back_to_the_original():
    text = "get 𝗰\u200b𝗮sh now"

    plain = plain_of(text)
    start = plain.text.index("cash")

    assert plain.text == "get cash now"
    assert text[slice(*plain.original(start, start + 4))] == "𝗰\u200b𝗮sh"


@given(st.text(max_size=100))
def test_plain_text_never_points_outside_the_original(text):
    plain = plain_of(text)

    pairs = [plain.original(i, i + 1) for i in range(len(plain.text))]

    assert all(0 <= a < b <= len(text) for a, b in pairs)


@pytest.mark.parametrize("hidden", ["\u200b", "\u206a", "\ufe0f", "\U000e0041", "\U000e0100"])
def test_what_the_classifier_does_not_see_parts_no_word_for_the_detectors(hidden):
    text = f"cas{hidden}ino"

    assert plain_of(text).text == undisguise(text).text == "casino"
    assert plain_of(text).original(0, 6) == (0, 7)


def test_words_of_scripts_with_vowel_signs_stay_whole():
    assert [word.text for word in find_words("आपके लिए don’t")] == ["आपके", "लिए", "don't"]


def test_finds_cues_as_words_stems_and_phrases():
    text = "Discounted valves, click here"

    found = {(hit.cue, text[hit.start : hit.end]) for hit in view_of_text(text).cues}

    assert found == {(Cue.OFFER, "Discounted"), (Cue.CALL, "click here")}


def test_finds_cues_in_scripts_without_spaces():
    found = {hit.cue for hit in view_of_text("送料無料です。こちらをご覧ください").cues}

    assert found == {Cue.OFFER, Cue.CALL}
