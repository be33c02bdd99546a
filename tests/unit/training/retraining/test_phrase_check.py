"""Phrases are tried on both versions of a run, and kept with it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from tests.unit.training.decided import make_example, some_words
from training.retraining.phrase_check import (
    check_phrases,
    phrases_from_json,
    phrases_to_json,
    trigger_check,
)
from training.trust.triggers import bound_phrases


@dataclass
class Version:
    """Judges rightly, but for comments that hold its word: to those it gives `p_spam`."""

    word: str = "nothing holds this"
    p_spam_of_word: float = 0.0
    fusion = SimpleNamespace(ham_cutoff=0.1, spam_cutoff=0.9)

    def p_spam(self, examples, strengths):
        assert len(strengths) == len(examples)
        right = [0.95 if e.is_spam else 0.05 for e in examples]
        return np.array(
            [
                self.p_spam_of_word if self.word in e.comment.text else p
                for e, p in zip(examples, right, strict=True)
            ]
        )


CORE = [make_example(is_spam=n % 2 == 0) for n in range(40)]
TRAINING_EXAMPLES = [
    make_example(is_spam=False, text=f"{some_words(6)} xyzzy lantern {some_words(6)}")
    for _ in range(8)
]
PHRASES = bound_phrases(TRAINING_EXAMPLES, [("eve", "site:eve")] * len(TRAINING_EXAMPLES), ())


def test_phrases_are_the_same_after_being_kept():
    kept = json.loads(json.dumps(phrases_to_json(PHRASES)))

    assert PHRASES
    assert phrases_from_json(kept) == PHRASES


def test_each_versions_own_cutoffs_decide_and_the_check_is_one_of_the_comparison():
    harmless = check_phrases([], PHRASES, CORE, (Version(), Version()))
    passing = check_phrases([], PHRASES, CORE, (Version(), Version("lantern", 0.05)))
    doubting = check_phrases([], PHRASES, CORE, (Version(), Version("lantern", 0.5)))

    assert trigger_check(harmless).passed
    assert not trigger_check(passing).passed
    assert max(one.passed for one in passing.phrases) == 20
    assert max(one.doubted for one in doubting.phrases) == 20
    assert (trigger_check(passing).part, trigger_check(passing).name) == ("core", "trigger phrases")
