"""Shows how far a long reading has come: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Self

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from service.domain.retraining import TrainingProgress

# Elsewhere a line for every so many comments: some minutes of work.
_COMMENTS_A_LINE = 100_000


class _Shown:
    """A bar, if there is one, from entering to leaving."""

    _bar: Progress | None

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()


class CountingProgress(_Shown):
    """Follows work of unknown length by what is done; a context manager on standard error."""

    def __init__(self, title: str, *, unit: str, a_line: int) -> None:
        """`unit` names what is counted; away from a terminal every `a_line` of them are told."""
        self._title = title
        self._unit = unit
        self._a_line = a_line
        self._said = 0
        self._bar = None
        if sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.completed:,} {task.fields[unit]}", markup=False),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
            )
            self._task = self._bar.add_task(title, total=None, unit=unit)

    def show(self, done: int) -> None:
        """Show how much is done."""
        if self._bar:
            self._bar.update(self._task, completed=done)
        elif done - self._said >= self._a_line:
            self._said = done
            click.echo(f"{self._title}: {done:,} {self._unit}", err=True)


class ReadingProgress(_Shown):
    """Follows one reading by the bytes read; a context manager that writes to standard error."""

    def __init__(self, title: str, total_bytes: int | None, *, done: str = "judged") -> None:
        """`total_bytes` None stands for a length that nobody knows; `done` says what was done."""
        self._done = done
        self._title = title
        self._said = 0
        self._bar = None
        if sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                DownloadColumn(),
                TextColumn("{task.fields[comments]:,} comments", markup=False),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
            )
            self._task = self._bar.add_task(title, total=total_bytes, comments=0)

    def show(self, *, bytes_read: int, comments: int) -> None:
        """Show the state of things; cheap enough to call for every comment."""
        if self._bar:
            self._bar.update(self._task, completed=bytes_read, comments=comments)
        elif comments - self._said >= _COMMENTS_A_LINE:
            self._said = comments
            click.echo(f"{self._title}: {comments:,} comments {self._done}", err=True)


class StepProgress(_Shown):
    """Follows a training program step by step; a context manager that writes to standard error."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._said, self._tenth = "", 0
        self._bar = None
        if sys.stderr.isatty():
            self._bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f} %  {task.fields[step]}{task.fields[left]}"),
                console=Console(stderr=True),
                transient=True,
                redirect_stdout=False,
            )
            self._task = self._bar.add_task(title, total=1.0, step="", left="")

    def show(self, progress: TrainingProgress) -> None:
        """Show how far it is: its step, and how long it still takes if that is known.

        Away from a terminal each step is told, and each tenth part of all.
        """
        left = _time_left(progress.seconds_left)
        if self._bar:
            self._bar.update(
                self._task, completed=progress.share_done, step=progress.step, left=left
            )
        elif progress.step and progress.step != self._said:
            self._said, self._tenth = progress.step, int(10 * progress.share_done)
            click.echo(f"{self._title}: {progress.step}{left}", err=True)
        elif int(10 * progress.share_done) > self._tenth:
            self._tenth = int(10 * progress.share_done)
            share = f"{progress.share_done:.0%} of all done"
            click.echo(f"{self._title}: {progress.step}, {share}{left}", err=True)


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f", about {max(1, round(seconds))} s left"
    return f", about {round(seconds / 60)} min left"
