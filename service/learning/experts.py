"""Lets a residual count as much as its predictions have earned, decision by decision.

Each expert is a part of the residual, the first none at all. Their probabilities are mixed by the
rule of Bayes over what was decided so far (prequential: each prediction is made before its decision
is learnt), so that the mixture's log-loss is never worse than the best expert's by more than the
logarithm of their number, besides the fixed share that lets another one become best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from service.learning.numbers import EXPERTS, MOST_LOSS, SHARE
from service.scoring.conclude import logistic

_FLOOR = 1e-12
# The mixture's log-odds stay within this: beyond it 1 - p would be no number any more.
_MOST_LOG_ODDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """How far each expert is believed, and what their predictions have cost so far, in nats.

    `frozen_loss` and `mixed_loss` are over `n` decisions, each predicted before it was learnt.
    """

    beliefs: tuple[float, ...] = (1.0 / len(EXPERTS),) * len(EXPERTS)
    n: int = 0
    frozen_loss: float = 0.0
    mixed_loss: float = 0.0

    def mix(self, frozen: float, moved: Sequence[float]) -> float:
        """Return the log-odds of the experts' probabilities, weighed by belief.

        `moved` holds what each expert adds to the frozen log-odds.
        """
        spam = ham = 0.0
        for belief, by in zip(self.beliefs, moved, strict=True):
            spam += belief * logistic(frozen + by)
            ham += belief * logistic(-frozen - by)
        mixed = math.log(max(spam, 1e-300)) - math.log(max(ham, 1e-300))
        return min(max(mixed, -_MOST_LOG_ODDS), _MOST_LOG_ODDS)

    def after(self, frozen: float, moved: Sequence[float], *, is_spam: bool) -> Evidence:
        """Return the evidence once a decision is known that was predicted so."""
        sign = 1.0 if is_spam else -1.0
        losses = [_loss(sign * (frozen + by)) for by in moved]
        least = min(losses)
        told = [
            belief * math.exp(least - loss)
            for belief, loss in zip(self.beliefs, losses, strict=True)
        ]
        total = math.fsum(told)
        even = SHARE / len(told)
        return Evidence(
            beliefs=tuple((1.0 - SHARE) * one / total + even for one in told),
            n=self.n + 1,
            frozen_loss=self.frozen_loss + losses[0],
            mixed_loss=self.mixed_loss + _loss(sign * self.mix(frozen, moved)),
        )


def _loss(log_odds: float) -> float:
    """Return the nats that a prediction costs whose right answer has these log-odds."""
    return min(-math.log(max(logistic(log_odds), _FLOOR)), MOST_LOSS)
