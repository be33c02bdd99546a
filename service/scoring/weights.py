"""How much each piece of evidence weighs: one fitted table, kept with the model version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Log-odds weights, fitted by logistic regression on comments the model did not train on.

    Those of histories are set by judgement (`service.scoring.set_weights`).

    score = base + model x logit(model's p_spam) + sum over signals of weight x strength.
    A detector that has not earned a weight yet counts 0: recorded and shown, but not weighed.
    """

    base: float = 0.0
    model: float = 1.0
    signals: Mapping[str, float] = field(default_factory=dict)

    def of(self, signal_name: str) -> float:
        """Return the weight of a signal, 0.0 for one that has no row in the table."""
        return self.signals.get(signal_name, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutoffs:
    """Probabilities that part ham (below `ham_cutoff`) and spam (from `spam_cutoff` up)."""

    ham_cutoff: float
    spam_cutoff: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.ham_cutoff <= self.spam_cutoff <= 1.0:
            msg = (
                "cutoffs need 0 <= ham_cutoff <= spam_cutoff <= 1, "
                f"got {self.ham_cutoff} and {self.spam_cutoff}"
            )
            raise ValueError(msg)
