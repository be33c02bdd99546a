"""Shows how far long work has come: on a terminal in one line, elsewhere now and then."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Self

import click

from service.domain.retraining import TrainingProgress

# Elsewhere a line for every so many comments: some minutes of work.
_COMMENTS_A_LINE = 100_000
_SECONDS_A_LOOK = 0.1
_CLEAR = "\r\x1b[K"


class _Line:
    """A line on standard error, if that is a terminal, from entering to leaving."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._on_terminal = sys.stderr.isatty()
        self._started = self._shown_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on_terminal:
            click.echo(_CLEAR, nl=False, err=True)

    def _write_over(self, line: str) -> None:
        now = time.monotonic()
        if now - self._shown_at >= _SECONDS_A_LOOK:
            self._shown_at = now
            fitting = line[: shutil.get_terminal_size().columns - 1]
            click.echo(f"{_CLEAR}{fitting}", nl=False, err=True)


class Progress(_Line):
    """Follows work by what is done; a context manager on standard error."""

    def __init__(
        self,
        title: str,
        *,
        unit: str,
        a_line: int = _COMMENTS_A_LINE,
        total_bytes: int | None = None,
    ) -> None:
        """Away from a terminal a line is written for every `a_line` of what `unit` names."""
        super().__init__(title)
        self._unit = unit
        self._a_line = a_line
        self._total_bytes = total_bytes
        self._said = 0

    def show(self, done: int, *, bytes_read: int = 0) -> None:
        """Show how much is done, and the time left where the length of the file is known."""
        if self._on_terminal:
            share = left = ""
            if self._total_bytes and bytes_read:
                seconds = (time.monotonic() - self._started) * (self._total_bytes / bytes_read - 1)
                share, left = f" {bytes_read / self._total_bytes:.0%},", _time_left(seconds)
            self._write_over(f"{self._title}:{share} {done:,} {self._unit}{left}")
        elif done - self._said >= self._a_line:
            self._said = done
            click.echo(f"{self._title}: {done:,} {self._unit}", err=True)


class StepProgress(_Line):
    """Follows a training program step by step; a context manager that writes to standard error."""

    def __init__(self, title: str) -> None:
        super().__init__(title)
        self._said, self._tenth = "", 0

    def show(self, progress: TrainingProgress) -> None:
        """Show how far it is: its step, and how long it still takes if that is known.

        Away from a terminal each step is told, and each tenth part of all.
        """
        left = _time_left(progress.seconds_left)
        tenth = int(10 * progress.share_done)
        if self._on_terminal:
            self._write_over(f"{self._title}: {progress.share_done:.0%}, {progress.step}{left}")
        elif progress.step and progress.step != self._said:
            self._said, self._tenth = progress.step, tenth
            click.echo(f"{self._title}: {progress.step}{left}", err=True)
        elif tenth > self._tenth:
            self._tenth = tenth
            share = f"{progress.share_done:.0%} of all done"
            click.echo(f"{self._title}: {progress.step}, {share}{left}", err=True)


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f", about {max(1, round(seconds))} s left"
    return f", about {round(seconds / 60)} min left"
