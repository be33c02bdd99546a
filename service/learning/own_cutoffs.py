"""Cutoffs of a site's own, from what it decided, as it was predicted before it was learnt.

Only decisions that were drawn count: all that was left unsure, and the audit sample of the rest,
each weighted by the number of comments that it represents. Nothing else says how often a
confident verdict is wrong.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from service.learning import numbers
from service.scoring.conclude import logistic, logit
from service.scoring.cutoffs import conformal_hits
from service.scoring.weights import Cutoffs


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted:
    """One drawn decision: the log-odds of its prediction, and how many comments it represents."""

    log_odds: float
    is_spam: bool
    drawn: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outermost:
    """Where the promises lead at one site, in log-odds; None as long as too few were decided."""

    spam_from: float | None = None
    ham_below: float | None = None

    def within(self, promised: Cutoffs, *, frozen: float) -> Cutoffs:
        """Return the cutoffs for a comment of the site, given those of the version that serves.

        The spam cutoff may come down by `SPAM_CUTOFF_LOWER_BY`; the ham cutoff never rises. Where
        too few were decided, what the version calls no spam, by its `frozen` log-odds, has to lie
        `UNPROMISED_MARGIN` above.
        """
        spam, ham = logit(promised.spam_cutoff), logit(promised.ham_cutoff)
        if self.spam_from is not None:
            spam = max(self.spam_from, spam - numbers.SPAM_CUTOFF_LOWER_BY)
        elif frozen < spam:
            spam += numbers.UNPROMISED_MARGIN
        if self.ham_below is not None:
            ham = min(self.ham_below, ham)
        if (spam, ham) == (logit(promised.spam_cutoff), logit(promised.ham_cutoff)):
            return promised
        # What did not move stays the number that it was, to the last digit.
        unmoved = ham == logit(promised.ham_cutoff)
        low, high = promised.ham_cutoff if unmoved else logistic(ham), logistic(spam)
        return Cutoffs(ham_cutoff=min(low, high), spam_cutoff=high)


def find_outermost(predicted: Sequence[Predicted]) -> Outermost:
    """Return where the newest decisions put the promised rates; see `conformal_hits`."""
    newest = predicted[-numbers.CUTOFF_DECISIONS :]
    ham = [(-p.log_odds, p.drawn) for p in newest if not p.is_spam]
    spam = [(p.log_odds, p.drawn) for p in newest if p.is_spam]
    highest, lowest = _edge(ham, numbers.HAM_CALLED_SPAM), _edge(spam, numbers.SPAM_CALLED_HAM)
    return Outermost(
        spam_from=None if highest is None else -highest + numbers.CUTOFF_MARGIN,
        ham_below=None if lowest is None else lowest - numbers.CUTOFF_MARGIN,
    )


def _edge(places: Sequence[tuple[float, float]], rate: float) -> float | None:
    """Return the first place beyond those that the rate allows, None if too few are known."""
    count = sum(drawn for _, drawn in places)
    if count + 1 < 1 / rate:
        return None
    allowed, passed = conformal_hits(int(count), rate), 0.0
    # Each represents at least one comment.
    for at, drawn in heapq.nsmallest(allowed + 1, places):
        passed += drawn
        if passed > allowed:
            return at
    return None
