"""What decisions taught moves a verdict within its bounds, and is named in words."""

import pytest

from models.features import hash_words
from service.domain.comment import Author, Post
from service.domain.verdict import Outcome, Signal, WeighedSignal, WeightKind
from service.learning.features import Kind, count_features, name_features
from service.learning.judging import apply_residual
from service.learning.learned_state import learn_all
from service.scoring.explanation import explain
from service.scoring.residual import LEAST_RESIDUAL, beside_of, recorded_residual
from service.scoring.weights import Cutoffs
from tests.factories import make_comment, make_verdict
from tests.unit.learning.training_examples import HAM, SALT, SPAM, features_of, make_example

PROMISED = Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9)
LEARNED = learn_all(
    [
        make_example(n, (SPAM if n % 2 else HAM).format(n), is_spam=n % 2 == 1, frozen=0.0)
        for n in range(1, 25)
    ],
    salt=SALT,
)


def judge(text: str, *, score: float = 0.0, signals=()):
    """Return the verdict on a text that its version gives this score, as decisions move it."""
    comment = make_comment(text)
    beside = sum(one.contribution for one in signals)
    values = {"base": 0.0, "score": score, "model_contribution": score - beside}
    verdict = make_verdict(comment.id, signals=signals, **values)
    return apply_residual(
        verdict, comment, LEARNED, word_hashes=hash_words(text), promised=PROMISED
    )


@pytest.mark.parametrize("name", ["offer_after_remarks", "added_by_edit", "dormant_account"])
def test_what_people_approved_of_an_aged_account_does_not_vouch_for_its_first_offer(name):
    sold = WeighedSignal(
        signal=Signal(name=name, strength=1.0, reason="is its first offer"),
        weight=1.0,
        contribution=1.0,
        kind=WeightKind.SET,
    )

    ham, spam = (judge(text.format("anew"), score=1.0, signals=(sold,)) for text in (HAM, SPAM))

    assert recorded_residual(ham) is None
    assert recorded_residual(spam).contribution > 0


def test_what_people_approved_moves_a_pitch_to_ham_by_no_more_than_a_set_weight():
    stairs, pitch = (
        recorded_residual(judge(f"{HAM.format('anew')} We built {what} for exactly this."))
        for what in ("stairs", "Ventilo")
    )

    assert stairs.contribution < -1.5
    assert pitch.contribution == -1.5


@pytest.mark.parametrize(("score", "higher"), [(1.0, True), (3.0, False)])
def test_a_verdict_says_why_spam_starts_higher_than_the_version_promises(score, higher):
    """What the version alone calls no spam needs more, as long as little was decided here."""
    text = SPAM.format("anew")

    judged = judge(text, score=score)

    said = "until more is decided here, spam starts at a higher probability."
    assert (judged.spam_cutoff > PROMISED.spam_cutoff) == higher
    assert any(line.endswith(said) for line in explain(judged, text)) == higher
    assert said.rstrip(".") not in " ".join(beside_of(recorded_residual(judged).signal.reason))


def test_a_cutoff_moves_for_no_comment_to_which_decisions_add_nothing(monkeypatch):
    monkeypatch.setattr(type(LEARNED), "residual_of", lambda *_, **__: LEAST_RESIDUAL / 2)

    judged = judge(SPAM.format("anew"), score=1.0)

    assert recorded_residual(judged) is None
    assert judged.spam_cutoff == PROMISED.spam_cutoff


NAMING_CUTOFFS = Cutoffs(ham_cutoff=0.04, spam_cutoff=0.998)


def judged(comment, examples, outcome=Outcome.UNSURE, **changes):
    verdict = make_verdict(comment.id, outcome, signals=(), **changes)
    learned = learn_all(examples, salt=SALT)
    return apply_residual(verdict, comment, learned, word_hashes=None, promised=NAMING_CUTOFFS)


def examples_on(text: str, **changes) -> list:
    other = "I had the same trouble, and yes, it was the valve of the other side"
    learned = [
        make_example(n, features=features_of(f"{text} {n}", **changes), frozen=0.0)
        for n in range(1, 7)
    ]
    against = [make_example(20 + n, f"{other} {n}", is_spam=False, frozen=0.0) for n in range(6)]
    return [*learned, *against]


@pytest.mark.parametrize(
    "text",
    [
        "Cheap  Radiators, order NOW from https://shop.example/a and pay later",
        "",
        "?!",
        "\U0001f600 один два \u202eхуй",
    ],
)
def test_every_word_pair_and_link_that_is_named_is_one_that_counts(text):
    comment = make_comment(text, author=Author(name="Mara Holm", url="https://mara-holm.com/x"))
    features = count_features(comment, hash_words(text), SALT)

    named = name_features(comment, [int(one) for one in features.ids], SALT)

    assert {Kind.NAME, Kind.POST, Kind.AUTHOR, Kind.DOMAIN} <= {n.kind for n in named.values()}
    for one in named.values():
        if one.span is not None:
            assert text[one.span.start : one.span.end]
            assert one.says.split()[0] in text.lower()


def test_no_words_are_sought_for_an_outcome_that_decisions_did_not_change():
    text = "Visit https://shop.example/x for radiators"
    comment = make_comment("Hello, " + text)

    verdict = judged(comment, examples_on(text), Outcome.SPAM, model_contribution=10.0)

    residual = recorded_residual(verdict)
    assert residual.contribution > 0
    assert residual.signal.spans == ()
    assert beside_of(residual.signal.reason) == []


def test_what_stands_beside_the_text_is_named_by_its_kind_alone():
    author = Author(name="ZZZ111", url="https://radiators-now.com/")
    post = Post(url="https://blog.example/p/9", title="Nine")
    comment = make_comment(
        "Quite another remark, without a word in common", author=author, post=post
    )

    verdict = judged(comment, examples_on(SPAM, author=author, post=post))

    residual = recorded_residual(verdict)
    assert "its author's site" in beside_of(residual.signal.reason)
    assert "radiators-now" not in residual.signal.reason
    assert "its author's site" in " ".join(explain(verdict, comment.text))


def test_of_an_erased_text_nothing_is_quoted():
    verdict = judged(make_comment(SPAM.format("x")), examples_on(SPAM))

    said = next(one for one in explain(verdict, "") if "decided here" in one)

    assert "“" not in said


def test_what_is_quoted_has_nothing_in_it_that_prints_nothing():
    comment = make_comment(SPAM.format("x").replace("radiator", "radi\u202eator"))
    verdict = judged(comment, examples_on(SPAM))

    assert all(one.isprintable() for one in explain(verdict, comment.text))
