"""Retrainings, their runs and the process that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from service.domain.retraining import (
    RetrainingOptions,
    RetrainingReport,
    TrainingProgress,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDecisions:
    """Decisions handed to a training program: how many, and what recognises the very same."""

    count: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFiles:
    """What lies in a run's folder; `texts_since` is the age of comments' texts in it, if any."""

    run_id: str
    changed_at: datetime
    texts_since: datetime | None
    unfinished: bool


class TrainingRuns(Protocol):
    """Runs the training program on this machine, each run in a folder of its own."""

    place: str
    """Names this machine and its folder of runs; two processes there share it."""

    def refuse(self) -> str | None:
        """Say in one sentence why nothing can be trained here, None if it can."""

    def only_one(self) -> AbstractContextManager[object]:
        """Keep everybody else on this machine from training while the block runs.

        Raise `ConflictError` if somebody does already.
        """

    def holds(self, run_id: str) -> bool:
        """Return True if the folder holds an unfinished run of this id to resume."""

    def keep_decisions(self, run_id: str, decisions: Iterable[Mapping[str, Any]]) -> KeptDecisions:
        """Write the decisions for a run, readable by this user alone."""

    def kept_labels(self, run_id: str) -> Iterator[tuple[str, str]]:
        """Yield the id and the label of each comment whose decision is kept for a run."""

    def train(
        self,
        run_id: str,
        options: RetrainingOptions,
        *,
        dry_run: bool,
        told: Callable[[TrainingProgress], None],
        goes_on: Callable[[], bool],
    ) -> RetrainingReport:
        """Train on the decisions kept for this run, or go on where it was stopped.

        `told` is called about every second; what it raises stops the run and comes through. Raise
        `TrainingStoppedError` once `goes_on` said no and the program has ended, resumable;
        `TrainingFailedError` if it cannot come to its end.
        """

    def keep_report_alone(self, run_id: str) -> None:
        """Delete everything of a run but its report."""

    def drop_texts(self, run_id: str) -> None:
        """Delete every comment's text from a run's folder; an unfinished run goes wholly."""

    def drop(self, run_id: str) -> None:
        """Delete a run's folder, if there is one."""

    def runs(self) -> list[RunFiles]:
        """Return what there is, the newest first."""


class TrainerQueue(Protocol):
    """Wakes the process that retrains, where there is one."""

    def wake(self) -> None:
        """Have it look for what is asked for. Raise `StoreUnavailableError`."""

    def is_heard(self) -> bool:
        """Return True if such a process sent a heartbeat lately. Raise the same."""
