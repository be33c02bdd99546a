"""What the classifier sees besides spam is told and never weighs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.verdict import Outcome
from service.scoring.conclude import conclude
from service.scoring.explanation import explain
from service.scoring.model_signals import LLM_VOICE, model_signals
from service.scoring.weights import Cutoffs, Weights


def conclude_with(llm_voice):
    return conclude(
        CommentId("c1"),
        signals=(),
        output=ModelOutput(p_spam=0.05, llm_voice=llm_voice),
        model_version="v",
        weights=Weights(),
        cutoffs=Cutoffs(ham_cutoff=0.1, spam_cutoff=0.9),
        judged_at=datetime(2026, 11, 21, tzinfo=UTC),
    )


def test_a_comment_polished_by_a_language_model_stays_ham_and_is_said_to_be():
    verdict = conclude_with(0.999)

    assert verdict.outcome is Outcome.HAM
    assert verdict.score == conclude_with(None).score
    assert [s.signal.name for s in verdict.signals] == [LLM_VOICE]
    assert any("language model" in line and "not weighed" in line for line in explain(verdict))


@pytest.mark.parametrize("llm_voice", [None, 0.0, 0.5, 0.99])
def test_a_doubtful_voice_is_not_mentioned(llm_voice):
    assert conclude_with(llm_voice).signals == ()


def test_no_answer_has_no_signals():
    assert model_signals(None) == []
