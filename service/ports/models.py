"""Model versions and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from models.inputs import ModelInput, ModelOutput
from service.scoring.weights import Cutoffs, Weights


class Classifier(Protocol):
    """Reads comments and says how likely each is spam."""

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one answer an input, in order; the same input always gets the same answer.

        Raise `ModelUnavailableError` if it can't answer at all.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOnShelf:
    """A model version as its card describes it.

    `figures` and `provenance` are words by name, for people; `serves` is "current", "previous"
    or empty.
    """

    name: str
    serves: str
    trained_at: str
    figures: Mapping[str, str]
    provenance: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingModel:
    """Everything that belongs to one model version and is used together, never mixed."""

    version: str
    classifier: Classifier
    weights: Weights
    cutoffs: Cutoffs
