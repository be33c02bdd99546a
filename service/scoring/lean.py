"""Adds to a verdict what decisions taught, as a signal among the others, and concludes anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from service.domain.verdict import Signal, Verdict, WeighedSignal
from service.scoring.conclude import logistic
from service.scoring.policy import decide
from service.scoring.weights import Cutoffs

SITE_DECISIONS = "site_decisions"
REASON = "resembles comments that were decided here"
BY_NAME, BY_AUTHORS_SITE = "the shape of its author's name", "its author's site"
BY_POST = "its post"
_MOSTLY, _AND = ", mostly by ", " and "
# A word that is quoted as a reason is no longer than this.
_QUOTED_CHARS = 60
# What is less changes nothing that a person could see, and is left out.
LEAST_LEAN = 0.05


def lean_signal(by: float, *, bound: float) -> WeighedSignal | None:
    """Return what decisions add as a weighed signal, None for hardly anything.

    Its weight is the bound, towards spam or ham, its strength the share of it.
    """
    if abs(by) < LEAST_LEAN:
        return None
    strength = min(abs(by) / bound, 1.0)
    weight = math.copysign(bound, by)
    return WeighedSignal(
        signal=Signal(name=SITE_DECISIONS, strength=strength, reason=REASON),
        weight=weight,
        contribution=weight * strength,
    )


def reason_of_lean(beside: Sequence[str]) -> str:
    """Return the reason with what it leans on besides words and links of the text."""
    return f"{REASON}{_MOSTLY}{_AND.join(beside)}" if beside else REASON


def beside_of(reason: str) -> list[str]:
    """Return what `reason_of_lean` was given."""
    _, _, beside = reason.partition(_MOSTLY)
    return beside.split(_AND) if beside else []


def quote_lean(signal: Signal, text: str) -> list[str]:
    """Return the words and links that the signal leans on, none of a text that was erased."""
    words = (text[span.start : span.end] for span in signal.spans)
    plain = ("".join(filter(str.isprintable, word))[:_QUOTED_CHARS] for word in words)
    return list(dict.fromkeys(filter(None, plain)))


def recorded_lean(verdict: Verdict) -> WeighedSignal | None:
    """Return what decisions added to a verdict, None if nothing."""
    return next((one for one in verdict.signals if one.signal.name == SITE_DECISIONS), None)


def add_lean(verdict: Verdict, lean: WeighedSignal | None, cutoffs: Cutoffs) -> Verdict:
    """Return a verdict with its lean at these cutoffs; `verdict` has none and is not degraded."""
    signals = verdict.signals if lean is None else (*verdict.signals, lean)
    signals = tuple(sorted(signals, key=lambda w: (-abs(w.contribution), w.signal.name)))
    score = sum_up(verdict, signals)
    p_spam = logistic(score)
    effect = verdict.instruction.effect if verdict.instruction else None
    return replace(
        verdict,
        outcome=decide(p_spam, cutoffs, degraded=False, effect=effect),
        p_spam=p_spam,
        score=score,
        signals=signals,
        ham_cutoff=cutoffs.ham_cutoff,
        spam_cutoff=cutoffs.spam_cutoff,
    )


def without_lean(verdict: Verdict, cutoffs: Cutoffs) -> Verdict:
    """Return a verdict as the version alone found it, at these cutoffs unless it is degraded."""
    signals = tuple(one for one in verdict.signals if one.signal.name != SITE_DECISIONS)
    alone = replace(verdict, signals=signals, score=sum_up(verdict, signals))
    return alone if verdict.degraded else add_lean(alone, None, cutoffs)


def frozen_score(verdict: Verdict) -> float:
    """Return the log-odds without what decisions added: to the last bit what was found without."""
    return sum_up(
        verdict, tuple(one for one in verdict.signals if one.signal.name != SITE_DECISIONS)
    )


def sum_up(verdict: Verdict, signals: tuple[WeighedSignal, ...]) -> float:
    """Return the score that these signals come to, added up in the order of the verdict."""
    score = verdict.base + verdict.model_contribution
    for part in signals:
        score += part.contribution
    return score
