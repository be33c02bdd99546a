"""Tries the phrases of the training examples on the core with both versions of a retraining run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from service.domain.verdict import Outcome
from training.data.dataset import Example
from training.fit.evidence import signal_strengths
from training.fit.members import FloatArray, Members
from training.retraining.compare import Check
from training.trust.backdoor_probes import ProbeConfig, TriggerCheck, trigger_changes
from training.trust.triggers import BoundPhrase, Phrase, PhraseKind
from training.trust.weights import WeighedDecision


def check_phrases(
    training_examples: Sequence[WeighedDecision],
    phrases: Sequence[BoundPhrase],
    core: Sequence[Example],
    versions: tuple[Members, Members],
    config: ProbeConfig | None = None,
) -> TriggerCheck:
    """Return what the phrases do to the verdicts of the current version and of the candidate."""
    seen = _Strengths()
    current, candidate = (_judge(version, seen) for version in versions)
    return trigger_changes(
        training_examples, core, current, candidate, phrases=phrases, config=config
    )


class _Strengths:
    """Looks at comments once for both versions, which are asked one after the other."""

    def __init__(self) -> None:
        self._last: tuple[Sequence[Example], FloatArray] | None = None

    def of(self, examples: Sequence[Example]) -> FloatArray:
        if self._last is None or self._last[0] is not examples:
            self._last = (examples, signal_strengths(examples))
        return self._last[1]


def _judge(version: Members, seen: _Strengths) -> Any:
    fusion = version.fusion

    def outcomes(examples: Sequence[Example]) -> list[Outcome]:
        p_spam = version.p_spam(examples, seen.of(examples))
        return [
            Outcome.SPAM
            if p >= fusion.spam_cutoff
            else Outcome.HAM
            if p < fusion.ham_cutoff
            else Outcome.UNSURE
            for p in np.asarray(p_spam).tolist()
        ]

    return outcomes


def trigger_check(found: TriggerCheck) -> Check:
    """Return it as one of the checks of the comparison."""
    return Check(part="core", name="trigger phrases", passed=found.passed, says=found.says)


def phrases_to_json(phrases: Sequence[BoundPhrase]) -> list[dict[str, Any]]:
    """Return phrases as JSON keeps them."""
    return [
        {
            "kind": one.phrase.kind.value,
            "value": one.phrase.value,
            "is_spam": one.is_spam,
            "lessons": list(one.training_examples),
            "in_base": one.in_base,
        }
        for one in phrases
    ]


def phrases_from_json(phrases: Sequence[dict[str, Any]]) -> tuple[BoundPhrase, ...]:
    """Return the phrases that `phrases_to_json` was given."""
    return tuple(
        BoundPhrase(
            phrase=Phrase(kind=PhraseKind(one["kind"]), value=one["value"]),
            is_spam=one["is_spam"],
            training_examples=tuple(one["lessons"]),
            in_base=one["in_base"],
        )
        for one in phrases
    )
