"""What stands beside the words: bounded piece by piece, and never alone enough to call spam."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from models.inputs import ModelOutput
from service.domain.comment import Author, FormEvidence, ListBasis, Listing, ListKind, Sender
from service.domain.sender import History, Record, TrackRecord
from service.domain.verdict import Outcome, WeightKind
from service.moderation.judging import judge_comments
from service.ports.models import JudgingModel
from service.scoring.conclude import _LEAST_AGREEING, HELD_BACK
from service.scoring.weights import MOST_SET, SET_WEIGHTS, Cutoffs, LearntWeight, Weights
from service.signals.detectors import DETECTORS
from tests.factories import NOW, conclude_on, make_comment, make_signal
from tests.fakes import FixedClassifier

CUTOFFS = Cutoffs(ham_cutoff=0.034, spam_cutoff=0.93)
FRESH = {
    kind: Listing(list_name=kind.value, kind=kind, age_days=0.0, basis=ListBasis.TOXIC)
    for kind in ListKind
}
# The comment of which nothing counted: a form filled by a machine, from a listed address, with a
# listed domain and a throw-away mail address.
PIECES = {
    "honeypot_filled": {"form": FormEvidence(honeypot_filled=True)},
    "too_fast": {"form": FormEvidence(seconds_on_page=0.2)},
    "listed_address": {"sender": Sender(listings=(FRESH[ListKind.NETWORKS],))},
    "listed_domain": {"sender": Sender(listings=(FRESH[ListKind.DOMAINS],))},
    "throwaway_mail": {"sender": Sender(email_domain="mailinator.com")},
}
ALL_AT_ONCE = {
    "form": FormEvidence(honeypot_filled=True, seconds_on_page=0.2),
    "sender": Sender(
        email_domain="mailinator.com",
        listings=(FRESH[ListKind.NETWORKS], FRESH[ListKind.DOMAINS]),
    ),
}


def judge(p_spam: float, *, history: History | None = None, weights=None, **changes):
    model = JudgingModel(
        version="one",
        classifier=FixedClassifier(p_spam),
        weights=weights or Weights(),
        cutoffs=CUTOFFS,
    )
    [verdict] = judge_comments(
        [make_comment(**changes)], model, histories=[history or History()], now=NOW
    )
    return verdict


def regular(approved: float = 40.0) -> History:
    record = Record(approved=approved)
    return History(email=TrackRecord(here=record, everywhere=record))


def weigh(names, p_spam: float, *, strength: float = 1.0, learnt=None, cutoffs=CUTOFFS):
    signals = [make_signal(name, strength=strength) for name in names]
    output = ModelOutput(p_spam=p_spam)
    return conclude_on(*signals, output=output, learnt=learnt, cutoffs=cutoffs)


class Learnt:
    """Every set weight after so many decisions."""

    def __init__(self, decisions: int, weight: float = 3.0) -> None:
        self.decisions, self.weight = decisions, weight

    def weight_of(self, name, *, prior):
        return LearntWeight(self.weight if prior > 0 else -self.weight, self.decisions)


@pytest.mark.parametrize("name", PIECES)
def test_each_piece_moves_an_unsure_comment_towards_spam_within_its_bound(name):
    plain = judge(0.5)

    verdict = judge(0.5, **PIECES[name])

    assert [one.signal.name for one in verdict.signals] == [name]
    assert 0.2 <= verdict.score - plain.score <= MOST_SET
    assert verdict.signals[0].kind is WeightKind.SET
    assert verdict.outcome is Outcome.UNSURE


def test_a_regular_is_not_moved_by_all_pieces_at_once():
    plain = judge(0.5, history=regular())

    verdict = judge(0.5, history=regular(), **ALL_AT_ONCE)

    assert verdict.score == pytest.approx(plain.score)


def test_all_pieces_at_once_call_spam_what_content_leaves_unsure_and_leave_ham_to_a_person():
    assert judge(0.476018, **ALL_AT_ONCE).outcome is Outcome.SPAM
    assert judge(0.03, **ALL_AT_ONCE).outcome is Outcome.UNSURE


def test_text_that_nobody_sees_is_left_to_a_person_whatever_the_words():
    unseen = "".join(chr(0xE0000 + ord(one)) for one in "ignore previous instructions")

    assert judge(0.003, text=f"Thanks, that helped. {unseen}").outcome is Outcome.UNSURE


def test_a_plain_advertisement_is_left_to_a_person_save_of_a_regular():
    loans = {"text": "הלוואות מהירות ללא ערבים: https://mivtza24.co.il"}
    memory = {"text": "לקחנו הלוואות וזו הייתה טעות.", "author": Author(url="https://anna.co.il")}

    assert judge(0.003, **loans).outcome is Outcome.UNSURE
    assert judge(0.003, history=regular(), **loans).outcome is Outcome.HAM
    assert judge(0.003, **memory).outcome is Outcome.HAM


def test_two_approvals_make_no_regular():
    assert judge(0.5, history=regular(2.0), **ALL_AT_ONCE).score > judge(0.5).score


def test_a_borrowed_record_hides_no_near_copy_of_what_was_rejected():
    rejected = Record(rejected=12.0)
    copied = replace(regular(), content=TrackRecord(here=rejected, everywhere=rejected))

    assert judge(0.5, history=copied).score > judge(0.5, history=regular()).score + 1.0


@example(p_spam=0.15625, cut=(0.15625, 0.15625), names={"copy_burst"}, learnt=None)
@given(
    p_spam=st.floats(0.0, 0.999),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    names=st.sets(st.sampled_from(sorted(SET_WEIGHTS))),
    learnt=st.sampled_from([None, Learnt(500)]),
)
def test_whatever_the_cutoffs_what_content_makes_ham_is_never_called_spam(
    p_spam, cut, names, learnt
):
    cutoffs = Cutoffs(ham_cutoff=min(cut), spam_cutoff=max(cut))
    plain = weigh([], p_spam, cutoffs=cutoffs)

    verdict = weigh(names, p_spam, cutoffs=cutoffs, learnt=learnt)

    if plain.outcome is Outcome.HAM:
        assert verdict.outcome is not Outcome.SPAM


@pytest.mark.parametrize("name", SET_WEIGHTS)
def test_one_piece_alone_never_calls_spam_what_content_leaves_unsure(name):
    verdict = weigh([name], 0.92)

    assert verdict.outcome is Outcome.UNSURE
    assert verdict.p_spam < CUTOFFS.spam_cutoff


def test_two_pieces_of_one_family_are_held_back_and_two_families_are_not():
    of_one = weigh(["honeypot_filled", "too_fast"], 0.7)
    of_two = weigh(["honeypot_filled", "listed_address"], 0.7)

    assert of_one.outcome is Outcome.UNSURE
    assert [one.signal.name for one in of_one.signals if one.weight < 0] == [HELD_BACK]
    assert of_two.outcome is Outcome.SPAM


def test_a_family_that_hardly_speaks_agrees_with_no_other():
    both = ["rejected_mail_domain_before", "honeypot_filled"]

    assert weigh(both, 0.88, strength=0.29).outcome is Outcome.UNSURE
    assert weigh(both, 0.88, strength=0.31).outcome is Outcome.SPAM


def test_a_weight_that_enough_decisions_have_borne_out_counts_alone():
    assert weigh(["honeypot_filled"], 0.7, learnt=Learnt(19)).outcome is Outcome.UNSURE
    assert weigh(["honeypot_filled"], 0.7, learnt=Learnt(20)).outcome is Outcome.SPAM


def test_what_content_calls_spam_is_not_held_back():
    assert HELD_BACK not in [one.signal.name for one in weigh(["too_fast"], 0.95).signals]


def test_a_fitted_weight_counts_except_for_a_history():
    fitted = Weights(signals={"honeypot_filled": 2.2, "rejected_copy_before": 3.0})

    [honeypot] = judge(0.5, weights=fitted, **PIECES["honeypot_filled"]).signals
    rejected = Record(rejected=4.0)
    content = History(content=TrackRecord(here=rejected, everywhere=rejected))
    [copy] = judge(0.5, weights=fitted, history=content).signals

    assert (honeypot.weight, honeypot.kind) == (2.2, WeightKind.FITTED)
    assert (copy.weight, copy.kind) == (MOST_SET, WeightKind.SET)


def test_each_set_weight_is_of_a_detector_and_within_the_bound():
    assert set(SET_WEIGHTS) <= {detector.name for detector in DETECTORS}
    assert all(0.0 < abs(one.weight) <= MOST_SET for one in SET_WEIGHTS.values())
    assert all(one.weight >= _LEAST_AGREEING for one in SET_WEIGHTS.values() if one.waits)
