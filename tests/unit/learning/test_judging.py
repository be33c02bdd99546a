"""What decisions add when a comment is judged."""

from __future__ import annotations

import pytest

from models.features import hash_words
from service.domain.verdict import Signal, WeighedSignal, WeightKind
from service.learning.judging import lean_on
from service.learning.taught import learn_all
from service.scoring.lean import recorded_lean
from service.scoring.weights import Cutoffs
from tests.factories import make_comment, make_verdict
from tests.unit.learning.training_examples import HAM, SALT, SPAM, make_example

PROMISED = Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9)
TAUGHT = learn_all(
    [
        make_example(n, (SPAM if n % 2 else HAM).format(n), is_spam=n % 2 == 1, frozen=0.0)
        for n in range(1, 25)
    ],
    salt=SALT,
)


@pytest.mark.parametrize("name", ["offer_after_remarks", "added_by_edit", "dormant_account"])
def test_what_people_approved_of_an_aged_account_does_not_vouch_for_its_first_offer(name):
    sold = WeighedSignal(
        signal=Signal(name=name, strength=1.0, reason="is its first offer"),
        weight=1.0,
        contribution=1.0,
        kind=WeightKind.SET,
    )

    def leans(text: str) -> float | None:
        comment = make_comment(text)
        verdict = make_verdict(
            comment.id, base=0.0, score=1.0, model_contribution=0.0, signals=(sold,)
        )
        judged = lean_on(verdict, comment, TAUGHT, word_hashes=hash_words(text), promised=PROMISED)
        lean = recorded_lean(judged)
        return lean.contribution if lean else None

    assert leans(HAM.format("anew")) is None
    assert leans(SPAM.format("anew")) > 0
