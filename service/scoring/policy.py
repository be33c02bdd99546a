"""Turns a probability into an outcome by two cutoffs."""

from __future__ import annotations

from service.domain.verdict import Outcome
from service.scoring.weights import Cutoffs


def decide(p_spam: float, cutoffs: Cutoffs, *, degraded: bool) -> Outcome:
    """Return the outcome; partial evidence never settles a comment alone."""
    if degraded:
        return Outcome.UNSURE
    if p_spam >= cutoffs.spam_cutoff:
        return Outcome.SPAM
    if p_spam < cutoffs.ham_cutoff:
        return Outcome.HAM
    return Outcome.UNSURE
