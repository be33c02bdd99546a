"""Model versions and what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
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


class VersionShelf(Protocol):
    """The model versions of this installation, and which of them serves."""

    def all(self) -> list[VersionOnShelf]:
        """Return every version, the current one first, then by name, the newest name first."""

    def card(self, name: str) -> str | None:
        """Return a version's card as Markdown, None if it has none. Raise `NotFoundError`."""

    def previous(self) -> str | None:
        """Return the version that was current before the last promotion, if it is still there."""

    def promote(self, name: str) -> str | None:
        """Make a version current after checking its files; return the one that was.

        Raise `NotFoundError` for an unknown one, `ConflictError` with one sentence for one that
        is damaged or where the folder cannot be written to.
        """

    def drop(self, name: str) -> None:
        """Delete a version.

        Raise `NotFoundError` for an unknown one, `ConflictError` for the current and the previous
        one, and where the folder cannot be written to.
        """

    def drop_leftovers(self, *, older_than: timedelta) -> int:
        """Delete what killed processes left half written; return how many there were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingModel:
    """Everything that belongs to one model version and is used together, never mixed."""

    version: str
    classifier: Classifier
    weights: Weights
    cutoffs: Cutoffs
