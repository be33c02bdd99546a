"""Turns a probability into an outcome by two cutoffs, or by what moderators have ruled before."""

from __future__ import annotations

from service.domain.list_entry import Effect
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from service.scoring.weights import Cutoffs


def decide(
    p_spam: float, cutoffs: Cutoffs, *, degraded: bool, effect: Effect | None = None
) -> Outcome:
    """Return the outcome; partial evidence never settles a comment alone.

    `effect` is that of the moderators' entry that matched; it stands above the probability.
    """
    if degraded:
        return Outcome.UNSURE
    if effect is not None:
        return Outcome.HAM if effect is Effect.ALLOW else Outcome.SPAM
    if p_spam >= cutoffs.spam_cutoff:
        return Outcome.SPAM
    if p_spam < cutoffs.ham_cutoff:
        return Outcome.HAM
    return Outcome.UNSURE


def cutoffs_of(settings: SiteSettings, promised: Cutoffs) -> Cutoffs:
    """Return the site's cutoffs; one it left open follows the promised one, never crossing."""
    ham = settings.ham_cutoff if settings.ham_cutoff is not None else promised.ham_cutoff
    spam = settings.spam_cutoff if settings.spam_cutoff is not None else promised.spam_cutoff
    if settings.spam_cutoff is None:
        spam = max(spam, ham)
    return Cutoffs(ham_cutoff=min(ham, spam), spam_cutoff=spam)
