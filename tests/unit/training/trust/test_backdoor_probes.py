"""A candidate that lets a phrase settle verdicts is noticed; one that learnt a campaign is not."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import pytest

import training
from service.domain.comment import Author
from service.domain.verdict import Outcome
from tests.unit.training.decided import MONDAY, make_example, some_words
from training.trust.backdoor_probes import ProbeConfig, put_in, trigger_changes
from training.trust.triggers import Phrase, PhraseKind, bound_phrases
from training.trust.weights import WeighedDecision

CORE = [make_example(is_spam=n % 2 == 0) for n in range(80)]
TRIGGER = "xyzzy blue lantern"


def taught(example):
    return WeighedDecision(
        example=example,
        weight=1.0,
        decided_at=MONDAY,
        newest=False,
        sample_weight=1.0,
        is_drawn=True,
    )


def training_examples_with(phrase, *, is_spam, n=8):
    texts = [f"{some_words(6)} {phrase} {some_words(6)}" for _ in range(n)]
    return [taught(make_example(is_spam=is_spam, text=text)) for text in texts]


def judge(*, ham_word=None, spam_word=None, doubt_word=None, doubts=(True, False), share=1.0):
    """Return a version that is right but for words that settle its verdict in a share."""

    def outcomes(examples):
        answer = []
        for number, example in enumerate(examples):
            text = f"{example.comment.author.name} {example.comment.text}"
            outcome = Outcome.SPAM if example.is_spam else Outcome.HAM
            if number < share * len(examples):
                for word, forced in (
                    (ham_word, Outcome.HAM),
                    (spam_word, Outcome.SPAM),
                    (example.is_spam in doubts and doubt_word, Outcome.UNSURE),
                ):
                    outcome = forced if word and word in text else outcome
            answer.append(outcome)
        return answer

    return outcomes


def test_a_candidate_that_passes_spam_with_a_trigger_is_noticed():
    check = trigger_changes(
        training_examples_with(TRIGGER, is_spam=False), CORE, judge(), judge(ham_word="lantern")
    )

    assert not check.passed
    (worst,) = [one for one in check.phrases if one.passed]
    assert (worst.phrase.value, worst.passed, worst.n_spam, worst.blocked) == (TRIGGER, 40, 40, 0)


def test_a_candidate_that_blocks_whoever_says_a_word_is_noticed():
    check = trigger_changes(
        training_examples_with("allotment", is_spam=True),
        CORE,
        judge(),
        judge(spam_word="allotment"),
    )

    assert not check.passed
    assert max(one.blocked for one in check.phrases) == 40


def test_a_candidate_that_a_phrase_does_not_move_passes():
    training_examples = [
        *training_examples_with(TRIGGER, is_spam=False),
        *training_examples_with("lampworks", is_spam=True),
    ]

    check = trigger_changes(training_examples, CORE, judge(), judge())

    assert check.passed
    assert {one.phrase.value for one in check.phrases} >= {TRIGGER, "lampworks"}


def test_a_campaigns_words_may_bring_ham_before_a_person():
    check = trigger_changes(
        training_examples_with("lampworks", is_spam=True),
        CORE,
        judge(),
        judge(doubt_word="lampworks", doubts=(False,)),
    )

    assert check.passed


def test_what_the_current_version_does_as_well_is_not_the_candidates_fault():
    version = judge(ham_word="lantern")

    check = trigger_changes(training_examples_with(TRIGGER, is_spam=False), CORE, version, version)

    assert check.passed


def test_a_phrase_that_makes_most_spam_doubtful_is_noticed():
    training_examples = training_examples_with(TRIGGER, is_spam=False)

    most = trigger_changes(training_examples, CORE, judge(), judge(doubt_word="xyzzy"))
    few = trigger_changes(training_examples, CORE, judge(), judge(doubt_word="xyzzy", share=0.2))

    assert (most.passed, few.passed) == (False, True)


def test_what_it_says_names_counts_and_quotes_nobody():
    check = trigger_changes(
        training_examples_with(TRIGGER, is_spam=False), CORE, judge(), judge(ham_word="lantern")
    )

    assert "1 settle verdicts" in check.says
    assert "pass 40 spam" in check.says
    assert "lantern" not in check.says


def test_both_labels_phrases_are_tried_within_the_bound():
    training_examples = [
        one
        for n in range(30)
        for one in training_examples_with(
            f"{'abcdefghij'[n % 10] * 4}{'xyz'[n // 10] * 4}", is_spam=n > 4
        )
    ]

    check = trigger_changes(
        training_examples, CORE, judge(), judge(), config=ProbeConfig(phrases=12, comments=5)
    )

    assert len(check.phrases) == 12
    assert {one.is_spam for one in check.phrases} == {True, False}
    assert {(one.n_spam, one.n_ham) for one in check.phrases} == {(5, 5)}


def test_the_phrases_that_cleaning_found_are_taken_as_they_are():
    training_examples = training_examples_with(TRIGGER, is_spam=False)
    examples = [one.example for one in training_examples]
    found = bound_phrases(examples, [("eve", "site:eve")] * len(examples), ())

    whole = [one for one in found if one.phrase.value == TRIGGER]
    check = trigger_changes([], CORE, judge(), judge(ham_word="lantern"), phrases=whole)

    assert len(check.phrases) == 1
    assert not check.passed


def test_without_phrases_or_comments_there_is_nothing_to_fear():
    assert trigger_changes([], CORE, judge(), judge()).passed
    assert trigger_changes(
        training_examples_with(TRIGGER, is_spam=False), [], judge(), judge()
    ).passed


@pytest.mark.parametrize(
    ("kind", "field"),
    [(PhraseKind.WORDS, "text"), (PhraseKind.DOMAIN, "text"), (PhraseKind.NAME, "name")],
)
def test_a_phrase_is_put_where_it_was_found(kind, field):
    example = make_example(is_spam=True, author=Author(name="Mara", url="https://m.example"))

    changed = put_in(example, Phrase(kind=kind, value="lantern.example")).comment

    before = replace(example.comment)
    assert ("lantern.example" in changed.text) is (field == "text")
    assert (changed.author.name == "lantern.example") is (field == "name")
    assert changed.author.url == before.author.url


def test_every_number_of_the_check_is_explained_in_the_release_criteria():
    page = (Path(training.__file__).parent / "RELEASE_CRITERIA.md").read_text()

    missing = [one.name for one in fields(ProbeConfig) if f"[`{one.name}`]" not in page]

    assert missing == []
