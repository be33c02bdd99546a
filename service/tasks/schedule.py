"""Runs periodic jobs one after another in a thread."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from service.domain.errors import ModerationError, StoreUnavailableError

log = logging.getLogger(__name__)


ShouldContinue = Callable[[], bool]
"""Returns False when a run is to end, with the rest left to the next one."""
Run = Callable[[], object]
"""One run of a job; returns how much it dealt with, if that is a number."""


@dataclass(frozen=True, slots=True)
class Job:
    """A function to call periodically, with `should_continue`; first when the process starts.

    Metrics and log lines name it `task`.
    A run that `turn_seconds` cut off continues soon: the job then takes `share` of the time.
    """

    task: str
    every_seconds: float
    run: Callable[..., object]
    turn_seconds: float = 0.5
    share: float = 0.25


@dataclass(eq=False)
class Schedule:
    """Runs jobs when they are due, in one thread; a failed run is repeated when due again.

    `watch` receives a job's name and its `run`, and returns the function to call instead.
    """

    jobs: Sequence[Job]
    watch: Callable[[str, Run], Run] = lambda _task, run: run
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._turned_at = self.monotonic()
        self._due_at = dict.fromkeys((job.task for job in self.jobs), self._turned_at)
        self._store_is_away = False
        self._stops = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(
            target=self._run_until_stopped, name="schedule", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Run every job now, or once more after the current run."""
        self._woken.set()

    def stop(self) -> None:
        self._stops.set()
        self._woken.set()

    def join(self, *, seconds: float) -> None:
        """Wait until it has stopped, at most this long."""
        self._thread.join(timeout=seconds)

    def seconds_since_turn(self) -> float:
        """Return the seconds since a job last began or ended; high if one is stuck."""
        return self.monotonic() - self._turned_at

    def run_due(self) -> float:
        """Run every job that is due, once; return the seconds until the next one is due."""
        for job in self.jobs:
            if self._due_at[job.task] <= self.monotonic() and not self._stops.is_set():
                self._run(job)
        return max(min(self._due_at.values()) - self.monotonic(), 0.0)

    def _run_until_stopped(self) -> None:
        while not self._stops.is_set():
            if self._woken.wait(self.run_due()):
                self._woken.clear()
                self._due_at = dict.fromkeys(self._due_at, self.monotonic())

    def _run(self, job: Job) -> None:
        began = self._turned_at = self.monotonic()
        was_cut_off = False

        def should_continue() -> bool:
            nonlocal was_cut_off
            was_cut_off = self._stops.is_set() or self.monotonic() - began >= job.turn_seconds
            return not was_cut_off

        extra = {"task": job.task}
        try:
            self.watch(job.task, partial(job.run, should_continue=should_continue))()
        except StoreUnavailableError:
            if not self._store_is_away:
                log.warning("stores are away, the next run tries again", extra=extra)
            self._store_is_away = True
        except ModerationError as error:
            log.warning("a job was refused", extra={**extra, "reason": str(error)})
        except Exception:  # The other jobs continue, and so does this job's next run.
            log.exception("upkeep failed", extra=extra)
        else:
            self._store_is_away = False
        self._turned_at = self.monotonic()
        took = self._turned_at - began
        wait = took * (1 / job.share - 1) if was_cut_off else job.every_seconds
        self._due_at[job.task] = self._turned_at + min(wait, job.every_seconds)
