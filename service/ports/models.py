"""Model versions and the classifier's Protocol."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from models.inputs import ModelInput, ModelOutput
from service.scoring.weights import Cutoffs, Weights


class Classifier(Protocol):
    """Estimates how likely comments are to be spam."""

    def score_batch(self, inputs: Sequence[ModelInput]) -> list[ModelOutput]:
        """Return one output per input, in order. The same input always gets the same output.

        Raise `ModelUnavailableError` if the model cannot be used.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionInfo:
    """A model version as its card describes it.

    `figures` and `provenance` are texts by name, for display; `serves` is "current", "previous" or
    empty.
    """

    name: str
    serves: str
    trained_at: str
    figures: Mapping[str, str]
    provenance: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingModel:
    """The parts of one model version, which are never mixed with another's."""

    version: str
    classifier: Classifier
    weights: Weights
    cutoffs: Cutoffs
