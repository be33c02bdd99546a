"""Weights that were set move to what decisions say, each within its bounds, and back again."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.inputs import ModelOutput
from service.domain.comment import ListBasis, Listing, ListKind, Sender
from service.domain.sender import History
from service.domain.verdict import WeightKind
from service.learning.evidence import (
    LearntForComment,
    LocalEvidence,
    Piece,
    list_piece,
    pieces_of,
    with_learnt_lists,
)
from service.learning.features import DecisionSource
from service.learning.learned_state import learn_all
from service.learning.numbers import MOST_LEARNT
from service.scoring.conclude import conclude
from service.scoring.weights import MOST_SET, Cutoffs, Weights
from service.signals.detectors import detect_all
from tests.factories import NOW, make_comment
from tests.unit.learning.training_examples import SALT, make_example

NAME = "too_fast"
TOR = Listing(list_name="tor", kind=ListKind.NETWORKS, age_days=0.0, basis=ListBasis.TOR)
_told = st.lists(
    st.tuples(st.floats(0.05, 1.0), st.floats(-6, 6), st.booleans()), min_size=1, max_size=30
)


def evidence(told, name: str = NAME) -> LocalEvidence:
    found = LocalEvidence()
    for strength, beside, is_spam in told:
        found.learn([Piece(name, strength, beside)], is_spam=is_spam, weight=1.0)
    return found


def weight(told, prior: float = 1.0) -> float:
    learnt = evidence(told).weight_of(NAME, prior=prior)
    return prior if learnt is None else learnt.weight


def judge(comment, learnt: LocalEvidence):
    sender = with_learnt_lists(comment, learnt)
    found = detect_all(sender, History())
    return conclude(
        comment.id,
        signals=[one for one in found if one.name in ("listed_address", NAME)],
        output=ModelOutput(p_spam=0.5),
        model_version="one",
        weights=Weights(),
        cutoffs=Cutoffs(ham_cutoff=0.03, spam_cutoff=0.93),
        judged_at=NOW,
        learnt=LearntForComment(sender, learnt),
    )


def test_without_a_decision_a_weight_stays_as_it_was_set():
    assert LocalEvidence().weight_of(NAME, prior=1.0) is None


@given(told=_told, more=st.tuples(st.floats(0.05, 1.0), st.floats(-6, 6)))
def test_a_rejection_never_lowers_a_weight_and_an_approval_never_raises_it(told, more):
    before = weight(told)

    assert weight([*told, (*more, True)]) >= before
    assert weight([*told, (*more, False)]) <= before


@given(told=_told, prior=st.sampled_from([-1.5, -0.5, 0.5, 1.5]))
def test_a_weight_keeps_its_sign_and_its_bound(told, prior):
    learnt = weight(told, prior)

    assert abs(learnt) <= MOST_LEARNT
    assert learnt * prior >= 0.0


def test_one_decision_moves_little_and_many_move_far():
    one, many = weight([(1.0, 0.0, True)]), weight([(1.0, 0.0, True)] * 40)
    against = weight([(1.0, 0.0, False)] * 40)

    assert 1.0 < one < 1.2
    assert many > 2.0
    assert against == pytest.approx(0.0, abs=0.01)


def test_what_the_words_had_told_already_proves_nothing_of_the_evidence_beside_them():
    told_by_words = weight([(1.0, 6.0, True)] * 40)

    assert told_by_words < weight([(1.0, -1.0, True)] * 40) - 1.0


def test_a_newcomer_and_a_site_key_move_no_set_weight():
    pieces = (Piece(NAME, 1.0, 0.0),)
    examples = [
        make_example(n, pieces=pieces, source=source, teacher="new")
        for n, source in enumerate(
            [DecisionSource.SITE, DecisionSource.REPORT, DecisionSource.ACCOUNT], start=1
        )
    ]

    assert learn_all(examples, salt=SALT).evidence.weight_of(NAME, prior=1.0) is None


def test_a_list_earns_its_weight_within_the_bound_and_the_verdict_says_from_how_many():
    comment = make_comment(sender=Sender(listings=(TOR,)))
    plain = judge(comment, LocalEvidence())
    right = judge(comment, evidence([(1.0, 0.0, True)] * 60, list_piece("tor")))
    wrong = judge(comment, evidence([(1.0, 0.0, False)] * 60, list_piece("tor")))

    assert plain.signals[0].kind is WeightKind.SET
    assert plain.score == pytest.approx(0.3)
    assert right.score == pytest.approx(MOST_SET, abs=0.01)
    assert (right.signals[0].kind, right.signals[0].decisions) == (WeightKind.LEARNT, 60)
    assert wrong.signals == ()


def test_a_list_learns_beside_all_that_is_not_the_list():
    comment = make_comment(sender=Sender(listings=(TOR, replace(TOR, list_name="abuse"))))
    verdict = judge(comment, LocalEvidence())

    pieces = {one.name: one for one in pieces_of(comment, verdict)}

    assert set(pieces) == {"list tor", "list abuse"}
    assert pieces["list tor"].beside == pytest.approx(verdict.base + verdict.model_contribution)
