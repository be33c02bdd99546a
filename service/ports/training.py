"""Training runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from service.domain.retraining import RetrainingOptions, RetrainingReport, TrainingProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDecisions:
    """The count and digest of the decisions that a training run reads."""

    count: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """A run's folder; `texts_since` is the age of comments' texts in it, None without texts."""

    run_id: str
    changed_at: datetime
    texts_since: datetime | None
    unfinished: bool


class TrainingRuns(Protocol):
    """Runs the training program on this machine, each run in its own folder."""

    # This machine's name and its folder of runs.
    place: str

    def refuse(self) -> str | None:
        """Return the reason why this machine cannot train, None if it can."""

    def only_one(self) -> AbstractContextManager[object]:
        """Hold this machine's lock for training. Raise `ConflictError` if it is held."""

    def holds(self, run_id: str) -> bool:
        """Return True if the folder holds an unfinished run with this id."""

    def keep_decisions(self, run_id: str, decisions: Iterable[Mapping[str, Any]]) -> KeptDecisions:
        """Write the decisions for a run, readable by this user only."""

    def kept_labels(self, run_id: str) -> Iterator[tuple[str, str]]:
        """Yield the id and the label of each comment in a run's decisions."""

    def train(
        self,
        run_id: str,
        options: RetrainingOptions,
        *,
        dry_run: bool,
        told: Callable[[TrainingProgress], None],
        goes_on: Callable[[], bool],
    ) -> RetrainingReport:
        """Train on a run's decisions, or resume the run.

        `told` is called about once a second; an exception from it stops the run and propagates.
        Raise `TrainingStoppedError`, resumable, once `goes_on` returns False, or
        `TrainingFailedError`.
        """

    def keep_report_alone(self, run_id: str) -> None:
        """Delete a run's files except its report."""

    def drop_texts(self, run_id: str) -> None:
        """Delete comments' texts from a run's folder, or all of it if the run is unfinished."""

    def drop(self, run_id: str) -> None:
        """Delete a run's folder if it exists."""

    def runs(self) -> list[RunFiles]:
        """Return the runs, newest first."""
