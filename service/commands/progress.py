"""Shows how far long work has come: on a terminal in one line, elsewhere now and then."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Self

import click

from service.domain.retraining import TrainingProgress

_SECONDS_A_LOOK = 0.1
# Elsewhere each look is a line of somebody's log.
_SECONDS_A_LINE = 60.0
_CLEAR = "\r\x1b[K"


class Progress:
    """Follows work by what is done; a context manager on standard error."""

    def __init__(self, title: str, *, unit: str = "", total_bytes: int | None = None) -> None:
        """Take what is done, what its parts are called, and the file's length if it is known."""
        self._title = title
        self._unit = unit
        self._total_bytes = total_bytes
        self._done = 0
        self._on_terminal = sys.stderr.isatty()
        self._started = self._shown_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._on_terminal:
            click.echo(_CLEAR, nl=False, err=True)

    def add(self, more: int) -> None:
        """Show that so many more are done."""
        self._done += more
        self.show(self._done)

    def show(self, done: int, *, bytes_read: int = 0) -> None:
        """Show how much is done, and the time left where the length of the file is known."""
        share = left = ""
        if self._total_bytes and bytes_read:
            seconds = (time.monotonic() - self._started) * (self._total_bytes / bytes_read - 1)
            share, left = f" {bytes_read / self._total_bytes:.0%},", _time_left(seconds)
        self._say(f"{self._title}:{share} {done:,} {self._unit}{left}")

    def show_step(self, progress: TrainingProgress) -> None:
        """Show a training's step, and how long it still takes if that is known."""
        left = _time_left(progress.seconds_left)
        self._say(f"{self._title}: {progress.share_done:.0%}, {progress.step}{left}")

    def _say(self, line: str) -> None:
        now = time.monotonic()
        if now - self._shown_at < (_SECONDS_A_LOOK if self._on_terminal else _SECONDS_A_LINE):
            return
        self._shown_at = now
        if self._on_terminal:
            fitting = line[: shutil.get_terminal_size().columns - 1]
            click.echo(f"{_CLEAR}{fitting}", nl=False, err=True)
        else:
            click.echo(line, err=True)


def _time_left(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f", about {max(1, round(seconds))} s left"
    return f", about {round(seconds / 60)} min left"
