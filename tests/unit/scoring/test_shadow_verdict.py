"""What another version says of a verdict's evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.inputs import ModelOutput
from service.domain.comment import Sender
from service.domain.history import History, Record, TrackRecord
from service.domain.list_entry import Effect, EntryKind, Instruction
from service.domain.shadow_verdict import Harm, Origin, harm_of
from service.domain.verdict import Outcome
from service.moderation.judging.judgement import judge_comments
from service.ports.models import JudgingModel
from service.scoring.conclude import logistic
from service.scoring.lean import add_lean, lean_signal
from service.scoring.seam import PROMOTION_SEAM
from service.scoring.set_weights import MOST_SET
from service.scoring.shadow_verdict import form_shadow_verdict
from service.scoring.weights import Cutoffs, Weights
from service.signals.registry import DETECTORS
from tests.factories import NOW, make_comment
from tests.fakes import FixedClassifier

TEXTS = tuple(one.text for detector in DETECTORS for one in detector.fires_on)
UNKNOWN = (History(),)
WEIGHT = st.floats(-3, 3)
PROBABILITY = st.floats(0, 1)
NAMES = (*(d.name for d in DETECTORS), PROMOTION_SEAM)


@st.composite
def models(draw):
    low, high = sorted((draw(PROBABILITY), draw(PROBABILITY)))
    classifier = FixedClassifier()
    classifier.answer = ModelOutput(
        p_spam=draw(PROBABILITY),
        promo_spans=draw(st.sampled_from([(), ((0, 12),), ((5, 20),)])),
        llm_voice=draw(st.sampled_from([None, 0.5, 0.999])),
    )
    return JudgingModel(
        version="one",
        classifier=classifier,
        weights=Weights(
            base=draw(WEIGHT),
            model=draw(WEIGHT),
            signals=draw(st.dictionaries(st.sampled_from(NAMES), WEIGHT)),
        ),
        cutoffs=Cutoffs(ham_cutoff=low, spam_cutoff=high),
    )


def judge(comment, model, *, histories=UNKNOWN):
    [verdict] = judge_comments([comment], model, histories=histories, now=NOW)
    return verdict


def shadow_verdict_of(comment, verdict, model, **changes):
    values = {
        "output": model.classifier.answer,
        "model_version": model.version,
        "weights": model.weights,
        "cutoffs": model.cutoffs,
        "origin": Origin.SHADOW,
        "formed_at": NOW,
    }
    return form_shadow_verdict(comment, verdict, **(values | changes))


@given(models(), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4))
def test_the_shadow_verdict_of_the_version_that_judged_is_the_verdict_to_the_last_bit(model, texts):
    comment = make_comment("\n\n".join(texts))
    verdict = judge(comment, model)

    shadow_verdict = shadow_verdict_of(comment, verdict, model)

    assert (shadow_verdict.outcome, shadow_verdict.p_spam) == (verdict.outcome, verdict.p_spam)


@given(models(), models(), st.sampled_from(TEXTS))
def test_a_shadow_verdict_is_what_the_other_version_would_have_concluded(one, other, text):
    comment = make_comment(text)

    shadow_verdict = shadow_verdict_of(comment, judge(comment, one), other)

    alone = judge(comment, other)
    assert shadow_verdict.p_spam == pytest.approx(alone.p_spam, abs=1e-12)


def fixed(p_spam=0.5, **weights):
    return JudgingModel(
        version="one",
        classifier=FixedClassifier(p_spam),
        weights=Weights(signals=weights),
        cutoffs=Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9),
    )


def test_signals_of_histories_count_as_they_were_recorded():
    comment = make_comment(sender=Sender(address_key="a1"))
    rejected = Record(rejected=4)
    history = History(address=TrackRecord(here=rejected, everywhere=rejected))
    verdict = judge(comment, fixed(), histories=[history])

    shadow_verdict = shadow_verdict_of(comment, verdict, fixed(rejected_address_before=9.0))

    [seen] = [one.signal for one in verdict.signals]
    assert seen.name == "rejected_address_before"
    assert shadow_verdict.p_spam == pytest.approx(logistic(MOST_SET * seen.strength))


def test_without_histories_then_a_shadow_verdict_is_unsure_too():
    comment = make_comment()
    verdict = judge(comment, fixed(0.999), histories=None)

    assert shadow_verdict_of(comment, verdict, fixed(0.999)).outcome is Outcome.UNSURE


def test_a_classifier_that_was_away_is_made_good_by_another():
    comment, away = make_comment(), fixed()
    away.classifier.answer = None
    verdict = judge(comment, away)

    shadow_verdict = shadow_verdict_of(comment, verdict, fixed(0.999))

    assert (verdict.outcome, shadow_verdict.outcome) == (Outcome.UNSURE, Outcome.SPAM)


def test_what_moderators_allow_says_nothing_of_a_version():
    comment, model = make_comment(), fixed(0.999)
    instruction = Instruction(
        entry_id="e1", effect=Effect.ALLOW, kind=EntryKind.PHRASE, label="x", reason="y"
    )
    verdict = replace(judge(comment, model), outcome=Outcome.HAM, instruction=instruction)

    assert shadow_verdict_of(comment, verdict, model).outcome is Outcome.SPAM


def test_ham_called_spam_is_told_from_what_a_person_rejected():
    ham, unsure, spam = Outcome.HAM, Outcome.UNSURE, Outcome.SPAM

    assert harm_of(ham, spam, None) is Harm.HAM_CALLED_SPAM
    assert harm_of(unsure, spam, None) is Harm.OTHER


def test_what_decisions_taught_is_part_of_every_shadow_verdict_as_it_was():
    comment, model = make_comment(), fixed(bare_link=0.3)
    verdict = add_lean(judge(comment, model), lean_signal(1.7, bound=6.0), model.cutoffs)

    shadow_verdict = shadow_verdict_of(comment, verdict, model)

    assert (shadow_verdict.p_spam, shadow_verdict.outcome) == (verdict.p_spam, verdict.outcome)
