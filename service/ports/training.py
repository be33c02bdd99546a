"""Retrainings, their runs and the process that runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from service.domain.retraining import RetrainingOptions, RetrainingReport, TrainingProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDecisions:
    """Decisions handed to a training program: their count and digest."""

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

    # Names this machine and its folder of runs.
    place: str

    def refuse(self) -> str | None:
        """Return in one sentence why nothing can be trained here, None if it can."""

    def only_one(self) -> AbstractContextManager[object]:
        """Hold this machine's lock for training. Raise `ConflictError` if it is held."""

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
        """Train on the decisions kept for this run, or continue where it was stopped.

        `told` is called about every second; what it raises stops the run and is raised. Raise
        `TrainingStoppedError` after `goes_on` returned False, resumable, or `TrainingFailedError`.
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
