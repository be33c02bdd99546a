"""One supervised child process: starts it, passes its lines on, brings it back when it dies."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

log = logging.getLogger(__name__)

_FIRST_BACKOFF_SECONDS = 0.25
_LONGEST_BACKOFF_SECONDS = 30.0
# A part that lived this long was healthy; its next death counts as the first.
_HEALTHY_AFTER_SECONDS = 60.0
# So many ends in a row are no accident.
_ENDS_UNTIL_MENDED = 3
_MAX_LINE_BYTES = 8_192
_KILL_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a part is started and how long it may take to stop.

    `says_when_started` is in the line that it writes once it works. `mend` is called when it has
    ended by itself three times in a row; it returns something true if that may have helped.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    stop_seconds: float
    pass_fds: tuple[int, ...] = ()
    says_when_started: str = ""
    mend: Callable[[], object] = lambda: None


class Part:
    """A child process that is started again, ever more slowly if it keeps dying.

    `write_line` is given each line of its output, prefixed with the part's name; `works` is set
    once the process has reported that it is ready. Only the main thread may use it: on Linux a
    child dies with the thread that started it.
    """

    def __init__(
        self,
        recipe: Recipe,
        *,
        write_line: Callable[[str], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.recipe = recipe
        self._write_line = write_line
        self._monotonic = monotonic
        self._process: subprocess.Popen[bytes] | None = None
        self._pump: threading.Thread | None = None
        self.works = threading.Event()
        self._started_at = 0.0
        self._due_at = 0.0
        self._deaths = 0
        self._ends_by_itself = 0

    def has_died(self) -> bool:
        """Return True if the process was started and has ended."""
        return self._process is not None and self._process.poll() is not None

    def start(self) -> None:
        """Start the process now."""
        recipe = self.recipe
        self._process = subprocess.Popen(  # noqa: S603  # the command is ours
            list(recipe.command),
            env=dict(recipe.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=recipe.pass_fds,
            # Ctrl-C reaches the supervisor alone, which then stops the parts in order.
            start_new_session=True,
        )
        self._started_at = self._monotonic()
        assert self._process.stdout is not None  # noqa: S101  # because of PIPE
        self._pump = threading.Thread(
            target=self._pass_on, args=(self._process.stdout,), daemon=True
        )
        self._pump.start()

    def _pass_on(self, output: IO[bytes]) -> None:
        sign = self.recipe.says_when_started
        with output:
            while line := output.readline(_MAX_LINE_BYTES):
                text = line.decode("utf-8", "replace").rstrip()
                if sign and sign in text:
                    self.works.set()
                if text:
                    self._write_line(f"{self.recipe.name:<9}| {text}")

    def look_after(self) -> int | None:
        """Start the process again if it died and its time has come.

        Return its exit code at the moment when its death is found, otherwise None.
        """
        if self._process is None:
            if self._monotonic() >= self._due_at:
                self.start()
            return None
        code = self._process.poll()
        if code is None:
            return None
        self._process = None
        lived = self._monotonic() - self._started_at
        self._deaths = 1 if lived >= _HEALTHY_AFTER_SECONDS else self._deaths + 1
        wait = min(_FIRST_BACKOFF_SECONDS * 2 ** (self._deaths - 1), _LONGEST_BACKOFF_SECONDS)
        self._due_at = self._monotonic() + wait
        log.warning(
            "a part ended and is started again",
            extra={"part": self.recipe.name, "how": describe_exit(code), "in_seconds": wait},
        )
        # Who was killed had worked until then.
        self._ends_by_itself = self._ends_by_itself + 1 if code > 0 else 0
        if self._ends_by_itself == _ENDS_UNTIL_MENDED and self.recipe.mend():
            self._deaths, self._due_at = 0, self._monotonic()
        return code

    def ask_to_stop(self) -> None:
        """Send SIGTERM; it may take its time."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait_or_kill(self, *, hurry: Callable[[], bool] = lambda: False) -> None:
        """Wait until it ended; kill it when its time is over or `hurry` returns True."""
        process = self._process
        if process is None:
            return
        deadline = self._monotonic() + self.recipe.stop_seconds
        while process.poll() is None and self._monotonic() < deadline and not hurry():
            time.sleep(0.02)
        if process.poll() is None:
            log.warning("a part did not stop in time", extra={"part": self.recipe.name})
            # Its own session is its own process group, so what it may have started goes too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(_KILL_SECONDS)
        self._process = None
        if self._pump is not None:
            self._pump.join(timeout=1)


def describe_exit(code: int) -> str:
    """Return an exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def write_to_stderr(line: str) -> None:
    """Write a line to standard error; a reader who went away keeps nothing from running."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
