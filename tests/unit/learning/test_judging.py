"""What decisions add when a comment is judged."""

from __future__ import annotations

import pytest

from models.features import hash_words
from service.domain.verdict import Signal, WeighedSignal, WeightKind
from service.learning.judging import lean_on
from service.learning.taught import learn_all
from service.scoring.explanation import explain
from service.scoring.lean import LEAST_LEAN, beside_of, recorded_lean
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


def test_what_people_approved_moves_a_pitch_to_ham_by_no_more_than_a_set_weight():
    def lean_of(text: str) -> float:
        comment = make_comment(text)
        verdict = make_verdict(comment.id, base=0.0, score=0.0, model_contribution=0.0, signals=())
        judged = lean_on(verdict, comment, TAUGHT, word_hashes=hash_words(text), promised=PROMISED)
        return recorded_lean(judged).contribution

    remark = HAM.format("anew")

    assert lean_of(f"{remark} We built stairs for exactly this.") < -1.5
    assert lean_of(f"{remark} We built Ventilo for exactly this.") == -1.5


@pytest.mark.parametrize(("score", "higher"), [(1.0, True), (3.0, False)])
def test_a_verdict_says_why_spam_starts_higher_than_the_version_promises(score, higher):
    """What the version alone calls no spam needs more, as long as little was decided here."""
    text = SPAM.format("anew")
    comment = make_comment(text)
    verdict = make_verdict(comment.id, base=0.0, score=score, model_contribution=score, signals=())

    judged = lean_on(verdict, comment, TAUGHT, word_hashes=hash_words(text), promised=PROMISED)

    said = "until more is decided here, spam starts at a higher probability."
    assert (judged.spam_cutoff > PROMISED.spam_cutoff) == higher
    assert any(line.endswith(said) for line in explain(judged, text)) == higher
    assert said.rstrip(".") not in " ".join(beside_of(recorded_lean(judged).signal.reason))


def test_a_cutoff_moves_for_no_comment_to_which_decisions_add_nothing(monkeypatch):
    monkeypatch.setattr(type(TAUGHT), "lean", lambda *_, **__: LEAST_LEAN / 2)
    comment = make_comment(SPAM.format("anew"))
    verdict = make_verdict(comment.id, base=0.0, score=1.0, model_contribution=1.0, signals=())

    judged = lean_on(
        verdict, comment, TAUGHT, word_hashes=hash_words(comment.text), promised=PROMISED
    )

    assert recorded_lean(judged) is None
    assert judged.spam_cutoff == PROMISED.spam_cutoff
