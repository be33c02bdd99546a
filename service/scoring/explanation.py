"""Says in sentences why a verdict came out as it did."""

from __future__ import annotations

from service.domain.verdict import Outcome, Verdict, WeighedSignal

# Contributions smaller than this (a factor of 1.05 on the odds) change nothing a person could see.
_WORTH_SAYING = 0.05
_MISSING_IN_WORDS = {
    "model": "the classifier did not answer",
    "history": "the sender's history could not be fetched",
    "detectors": "the detectors could not run",
    "judging": "judging this comment failed",
}
_OUTCOME_IN_WORDS = {
    Outcome.HAM: "ham: the probability lies below the ham cutoff",
    Outcome.UNSURE: "unsure: the probability lies between the two cutoffs",
    Outcome.SPAM: "spam: the probability reaches the spam cutoff",
}


def explain(verdict: Verdict) -> list[str]:
    """Return sentences, the weightiest first, that a moderator understands without a manual."""
    sentences = [_headline(verdict)]
    if verdict.model_p_spam is not None:
        sentences.append(_about_model(verdict.model_p_spam, verdict.model_contribution))
    sentences += [_about_signal(w) for w in verdict.signals]
    sentences += [f"Missing: {_MISSING_IN_WORDS.get(m, m)}." for m in verdict.degraded_by]
    return sentences


def percent(p: float) -> str:
    """Return a probability as a percentage that never claims certainty.

    Where the cutoffs lie, near both ends, it has a decimal: who looks must see on which side.
    """
    if p > 0.9995:
        return ">99.9%"
    if p < 0.0005:
        return "<0.1%"
    return f"{p:.1%}" if p >= 0.95 or p < 0.05 else f"{p:.0%}"


def _headline(verdict: Verdict) -> str:
    """Return the outcome, the probability and the cutoffs that it was compared with."""
    if verdict.degraded:
        return "Left to a person, because evidence is missing."
    cutoffs = f"cutoffs {percent(verdict.ham_cutoff)} and {percent(verdict.spam_cutoff)}"
    return (
        f"Called {_OUTCOME_IN_WORDS[verdict.outcome]} "
        f"(probability of spam {percent(verdict.p_spam)}, {cutoffs})."
    )


def _about_model(p_spam: float, contribution: float) -> str:
    return (
        f"The classifier, from the words alone, gives {percent(p_spam)} for spam "
        f"({contribution:+.2f})."
    )


def _about_signal(weighed: WeighedSignal) -> str:
    reason = weighed.signal.reason[:1].upper() + weighed.signal.reason[1:]
    if weighed.weight == 0.0:
        return f"{reason} (recorded, not weighed)."
    if abs(weighed.contribution) < _WORTH_SAYING:
        return f"{reason} (hardly counts, {weighed.contribution:+.2f})."
    side = "for spam" if weighed.contribution > 0 else "for ham"
    return f"{reason} ({side}, {weighed.contribution:+.2f})."
