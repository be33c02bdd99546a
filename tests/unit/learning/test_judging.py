"""What decisions add, told when a comment is judged and told anew, is the same sum."""

from __future__ import annotations

import pytest

from models.features import hash_words
from service.domain.site import SiteSettings
from service.domain.verdict import Signal, WeighedSignal, WeightKind
from service.learning.features import count_features
from service.learning.judging import lean_anew, lean_on
from service.learning.taught import learn_all
from service.scoring.holding import HELD_BACK
from service.scoring.lean import add_lean, recorded_lean
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


def said(verdict) -> list[tuple[str, float]]:
    return [(one.signal.name, one.contribution) for one in verdict.signals]


@pytest.mark.parametrize("text", [SPAM.format("anew"), HAM.format("anew")])
@pytest.mark.parametrize("content", [-3.0, 0.0, 1.5, 3.0])
@pytest.mark.parametrize("weight", [1.5, 3.0])
def test_told_anew_by_the_same_examples_a_verdict_stays_as_it_was_judged(text, content, weight):
    comment = make_comment(text)
    beside = WeighedSignal(
        signal=Signal(name="honeypot_filled", strength=1.0, reason="filled in a hidden field"),
        weight=weight,
        contribution=weight,
        kind=WeightKind.SET,
    )
    alone = add_lean(
        make_verdict(comment.id, base=content, model_contribution=0.0, signals=(beside,)),
        None,
        PROMISED,
    )
    hashes = hash_words(text)
    features = count_features(comment, hashes, SALT)

    judged = lean_on(alone, comment, TAUGHT, word_hashes=hashes, promised=PROMISED)
    anew = lean_anew(
        judged, comment.site_id, features, TAUGHT, promised=PROMISED, settings=SiteSettings()
    )
    untaught = lean_anew(
        judged,
        comment.site_id,
        features,
        TAUGHT,
        promised=PROMISED,
        settings=SiteSettings(learns=False),
    )

    assert recorded_lean(judged) is not None
    assert (anew.score, anew.outcome, said(anew)) == (judged.score, judged.outcome, said(judged))
    assert [name for name, _ in said(anew)].count(HELD_BACK) <= 1
    assert (untaught.score, said(untaught)) == (alone.score, said(alone))


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
