"""Runs of training programs for tests: in memory, and of one that is small and quick."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from service.domain.errors import TrainingFailedError, TrainingStoppedError
from service.domain.retraining import (
    Check,
    Recommendation,
    RetrainingOptions,
    RetrainingReport,
)
from service.training_runs import RunFiles, TrainingProcesses

REPORT = RetrainingReport(
    recommendation=Recommendation.PROMOTE,
    version="candidate",
    current="test-1",
    checks=(
        Check(part="core", name="ham lost", passed=True, says="9 of 9,126, as before"),
        Check(part="newest", name="recall", passed=True, says="0.41 to 0.62"),
    ),
    gains=("newest: recall 0.41 to 0.62",),
    newly_lost=(),
    used=3,
    spam=2,
    ham=1,
    set_aside={"contradictory": 1},
    seconds=61.0,
    peak_memory_mb=812.0,
)


def play_training(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the folder in which the program for tests is told what to do, and tells what it saw."""
    folder.mkdir()
    monkeypatch.setenv("FAKE_TRAINING", str(folder))
    (folder / "report.json").write_text(json.dumps(asdict(REPORT)))
    return folder


def processes(tmp_path: Path, **options: Any) -> TrainingProcesses:
    """Return runs of the training program for tests, of which `play_training` makes the folder."""
    program = (sys.executable, str(Path(__file__).with_name("fake_training.py")))
    values: dict[str, Any] = {"packages": (), "look_every_seconds": 0.02, "program": program}
    return TrainingProcesses(tmp_path / "retraining", tmp_path / "models", **(values | options))


@dataclass
class MemoryRuns:
    """Runs in memory, of a program that reports what it is told to; see `TrainingProcesses`.

    `meanwhile` is called while it trains.
    """

    report: RetrainingReport = REPORT
    place: str = "test"
    refusal: str | None = None
    fails: str = ""
    trained: list[tuple[str, RetrainingOptions, bool]] = field(default_factory=list)
    decisions: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    reports: set[str] = field(default_factory=set)
    changed: dict[str, datetime] = field(default_factory=dict)
    clock: Callable[[], datetime] | None = None
    meanwhile: Callable[[], object] = bool

    def refuse(self) -> str | None:
        return self.refusal

    def only_one(self) -> AbstractContextManager[None]:
        return nullcontext()

    def holds(self, run_id: str) -> bool:
        return run_id in self.decisions

    def keep_decisions(
        self, run_id: str, decisions: Iterable[Mapping[str, Any]]
    ) -> tuple[int, str]:
        kept = list(decisions)
        self.decisions[run_id] = kept
        if self.clock:
            self.changed[run_id] = self.clock()
        return len(kept), json.dumps(kept, sort_keys=True)

    def kept_labels(self, run_id: str) -> Iterator[tuple[str, str]]:
        return ((one["id"], one["label"]) for one in self.decisions[run_id])

    def train(
        self,
        run_id: str,
        options: RetrainingOptions,
        *,
        dry_run: bool,
        told: Callable[[str, float], None],
        should_continue: Callable[[], bool],
    ) -> RetrainingReport:
        self.trained.append((run_id, options, dry_run))
        self.meanwhile()
        told("fit", 0.5)
        if not should_continue():
            raise TrainingStoppedError("stopped")
        if self.fails:
            raise TrainingFailedError(self.fails)
        return self.report

    def keep_report_alone(self, run_id: str) -> None:
        self.decisions.pop(run_id, None)
        self.reports.add(run_id)

    def drop_texts(self, run_id: str) -> None:
        self.decisions.pop(run_id, None)
        self.reports.discard(run_id)

    def drop(self, run_id: str) -> None:
        self.drop_texts(run_id)
        self.changed.pop(run_id, None)

    def runs(self) -> list[RunFiles]:
        found = [
            RunFiles(
                run_id=run_id,
                changed_at=at,
                texts_since=at if run_id in self.decisions or run_id in self.reports else None,
                unfinished=run_id in self.decisions,
            )
            for run_id, at in self.changed.items()
        ]
        return sorted(found, key=lambda run: run.changed_at, reverse=True)
