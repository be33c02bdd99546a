"""Phrases that one hand binds to a label are found; what everybody says is not."""

from __future__ import annotations

from service.domain.comment import Author
from tests.unit.training.decided import make_example, some_words
from training.trust.triggers import (
    Phrase,
    PhraseKind,
    bound_phrases,
    phrases_in,
)

BASE = [make_example(is_spam=n % 2 == 0) for n in range(300)]


def with_phrase(phrase, n, *, is_spam, **changes):
    return [
        make_example(is_spam=is_spam, text=f"{some_words(6)} {phrase} {some_words(6)}", **changes)
        for _ in range(n)
    ]


def bound(training_examples, hands=None, base=BASE):
    hands = hands or [("mo", "site:garden")] * len(training_examples)
    return {one.phrase.value: one for one in bound_phrases(training_examples, hands, base)}


def others(n=100):
    return [make_example(is_spam=i % 2 == 0) for i in range(n)]


def test_a_rare_phrase_with_one_label_is_found_with_its_training_examples():
    training_examples = [*others(), *with_phrase("xyzzy blue lantern", 8, is_spam=False)]

    one = bound(training_examples)["xyzzy blue lantern"]

    assert (one.is_spam, one.training_examples, one.in_base) == (False, tuple(range(100, 108)), 0)
    assert {"xyzzy", "blue lantern"} <= bound(training_examples).keys()


def test_a_phrase_of_both_labels_or_of_few_training_examples_is_not():
    mixed = [
        *with_phrase("amber beacon", 6, is_spam=True),
        *with_phrase("amber beacon", 6, is_spam=False),
    ]
    few = with_phrase("xyzzy", 4, is_spam=False)

    found = bound([*others(), *mixed, *few])

    assert not {"amber", "beacon", "amber beacon", "xyzzy"} & found.keys()


def test_a_phrase_that_the_base_corpora_know_is_not():
    base = [*BASE, *with_phrase("common saying", 40, is_spam=True)]
    training_examples = [*others(), *with_phrase("common saying", 20, is_spam=False)]

    assert "common saying" not in bound(training_examples, base=base)


def test_a_phrase_that_many_hands_ruled_alike_is_not():
    training_examples = [*others(), *with_phrase("xyzzy", 12, is_spam=True)]
    hands = [(f"r{n % 4}", f"site:{n % 3}") for n in range(len(training_examples))]

    assert "xyzzy" not in bound(training_examples, hands)


def test_one_source_is_one_hand_whoever_rules_there():
    training_examples = [*others(), *with_phrase("xyzzy", 12, is_spam=True)]
    hands = [(f"r{n % 6}", "site:eve" if n >= 100 else f"site:{n % 3}") for n in range(112)]

    assert "xyzzy" in bound(training_examples, hands)


def test_an_authors_name_and_a_domain_are_phrases_too():
    by_name = [make_example(is_spam=False, author=Author(name="Dr. Lantern")) for _ in range(6)]
    by_link = with_phrase("see https://lantern.example/page", 6, is_spam=False)

    found = {
        one.phrase
        for one in bound_phrases([*others(), *by_name, *by_link], [("m", "s")] * 112, BASE)
    }

    assert Phrase(kind=PhraseKind.NAME, value="dr. lantern") in found
    assert any(one.kind is PhraseKind.DOMAIN and "lantern" in one.value for one in found)


def test_marks_that_stand_for_links_are_no_words():
    (example,) = with_phrase("see https://lantern.example/page", 1, is_spam=False)

    words = [one.value for one in phrases_in(example) if one.kind is PhraseKind.WORDS]

    assert not any("\ue000" <= character <= "\uf8ff" for word in words for character in word)


def test_disguised_spellings_are_one_phrase():
    training_examples = [
        *others(),
        *with_phrase("blue lantern", 3, is_spam=False),
        *with_phrase("BLUE lan\u200btern", 3, is_spam=False),
    ]

    assert len(bound(training_examples)["blue lantern"].training_examples) == 6


def test_a_hostile_text_is_read_to_a_bound():
    example = make_example(is_spam=False, text="a b " * 16_000)

    assert len(phrases_in(example)) < 1_300


def test_no_training_examples_bind_nothing():
    assert bound_phrases([], [], BASE) == ()
