"""Adds the residual of a site's decisions to a verdict as a signal, and concludes it again."""

import math
from collections.abc import Sequence
from dataclasses import replace

from service.domain.verdict import Signal, Verdict, WeighedSignal, WeightKind
from service.scoring.conclude import HELD_BACK, decide, logistic, sum_up
from service.scoring.weights import Cutoffs

SITE_DECISIONS = "site_decisions"
REASON = "resembles comments that were decided here"
BY_NAME, BY_AUTHORS_SITE = "the shape of its author's name", "its author's site"
BY_POST = "its post"
_MOSTLY, _AND = ", mostly by ", " and "
HIGHER_CUTOFF = "; until more is decided here, spam starts at a higher probability"
# A word that is quoted as a reason is no longer than this.
_QUOTED_CHARS = 60
# What is less changes nothing that a person could see, and is left out.
LEAST_RESIDUAL = 0.05


def residual_signal(
    by: float, *, bound: float, higher_cutoff: bool = False
) -> WeighedSignal | None:
    """Return the log-odds that decisions add as a weighed signal, or None below `LEAST_RESIDUAL`.

    Its weight is the bound, towards spam or ham, and its strength the share of the bound.
    `higher_cutoff` is that of `reason_of_residual`.
    """
    if abs(by) < LEAST_RESIDUAL:
        return None
    strength = min(abs(by) / bound, 1.0)
    weight = math.copysign(bound, by)
    return WeighedSignal(
        signal=Signal(
            name=SITE_DECISIONS,
            strength=strength,
            reason=reason_of_residual([], higher_cutoff=higher_cutoff),
        ),
        weight=weight,
        contribution=weight * strength,
        kind=WeightKind.LEARNT,
    )


def reason_of_residual(beside: Sequence[str], *, higher_cutoff: bool) -> str:
    """Return the reason with what it leans on besides words and links of the text.

    `higher_cutoff` says that the verdict was compared with a cutoff above the promised one.
    """
    reason = f"{REASON}{_MOSTLY}{_AND.join(beside)}" if beside else REASON
    return f"{reason}{HIGHER_CUTOFF}" if higher_cutoff else reason


def beside_of(reason: str) -> list[str]:
    """Return the `beside` of `reason_of_residual` for a reason that it returned."""
    _, _, beside = reason.removesuffix(HIGHER_CUTOFF).partition(_MOSTLY)
    return beside.split(_AND) if beside else []


def quote_residual(signal: Signal, text: str) -> list[str]:
    """Return the words and links that the signal leans on; none if the text was erased."""
    words = (text[span.start : span.end] for span in signal.spans)
    plain = ("".join(filter(str.isprintable, word))[:_QUOTED_CHARS] for word in words)
    return list(dict.fromkeys(filter(None, plain)))


def recorded_residual(verdict: Verdict) -> WeighedSignal | None:
    """Return the signal that decisions added to a verdict, or None if they added none."""
    return next((one for one in verdict.signals if one.signal.name == SITE_DECISIONS), None)


def with_residual(verdict: Verdict, residual: WeighedSignal | None, cutoffs: Cutoffs) -> Verdict:
    """Return a verdict with this residual in place of its own, at these cutoffs.

    The verdict must not be degraded.
    """
    signals = _found(verdict) if residual is None else (*_found(verdict), residual)
    score, weighed = sum_up(verdict.base + verdict.model_contribution, signals, cutoffs)
    p_spam = logistic(score)
    effect = verdict.instruction.effect if verdict.instruction else None
    return replace(
        verdict,
        outcome=decide(p_spam, cutoffs, degraded=False, effect=effect),
        p_spam=p_spam,
        score=score,
        signals=tuple(weighed),
        ham_cutoff=cutoffs.ham_cutoff,
        spam_cutoff=cutoffs.spam_cutoff,
    )


def frozen_score(verdict: Verdict) -> float:
    """Return the log-odds without what decisions added, as held back at the verdict's cutoffs."""
    cutoffs = Cutoffs(ham_cutoff=verdict.ham_cutoff, spam_cutoff=verdict.spam_cutoff)
    score, _ = sum_up(verdict.base + verdict.model_contribution, _found(verdict), cutoffs)
    return score


def _found(verdict: Verdict) -> tuple[WeighedSignal, ...]:
    """Return the signals without those that are added after the detectors."""
    added = {SITE_DECISIONS, HELD_BACK}
    return tuple(one for one in verdict.signals if one.signal.name not in added)
