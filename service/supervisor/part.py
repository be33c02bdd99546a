"""A supervised child process: starts it, forwards its output and restarts it."""

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
_MAX_BACKOFF_SECONDS = 30.0
# A process that ran this long was healthy; its next exit counts as the first.
_HEALTHY_AFTER_SECONDS = 60.0
# After this many consecutive exits `mend` is called.
_EXITS_UNTIL_MENDED = 3
_MAX_LINE_BYTES = 8_192
_KILL_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How to start a process and how long it may take to stop.

    The process prints a line with `says_when_started` once it is ready. `mend` is called after
    three consecutive exits that no signal caused; it returns something true if that may have
    helped.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    stop_seconds: float
    pass_fds: tuple[int, ...] = ()
    says_when_started: str = ""
    mend: Callable[[], object] = lambda: None


@dataclass(eq=False)
class Part:
    """A child process that is restarted, with growing pauses if it keeps exiting.

    `write_line` receives each line of its output, prefixed with the part's name; `works` is set
    once the process is ready. Use it from the main thread only: on Linux a child dies with the
    thread that started it.
    """

    recipe: Recipe
    write_line: Callable[[str], None]
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pump: threading.Thread | None = None
        self.works = threading.Event()
        self._started_at = 0.0
        self._due_at = 0.0
        self._exits = 0
        self._own_exits = 0

    def has_died(self) -> bool:
        """Return True if the process was started and has exited."""
        return self._process is not None and self._process.poll() is not None

    def start(self) -> None:
        recipe = self.recipe
        self._process = subprocess.Popen(  # noqa: S603  # The command is not user input.
            list(recipe.command),
            env=dict(recipe.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=recipe.pass_fds,
            # Ctrl-C signals the supervisor only, which then stops the parts in order.
            start_new_session=True,
        )
        self._started_at = self.monotonic()
        assert self._process.stdout is not None  # noqa: S101  # Because of PIPE.
        self._pump = threading.Thread(
            target=self._forward_output, args=(self._process.stdout,), daemon=True
        )
        self._pump.start()

    def _forward_output(self, output: IO[bytes]) -> None:
        sign = self.recipe.says_when_started
        with output:
            while line := output.readline(_MAX_LINE_BYTES):
                text = line.decode("utf-8", "replace").rstrip()
                if sign and sign in text:
                    self.works.set()
                if text:
                    self.write_line(f"{self.recipe.name:<9}| {text}")

    def look_after(self) -> int | None:
        """Restart the process if it exited and its pause is over.

        Returns the exit code once, when the exit is found, otherwise None.
        """
        if self._process is None:
            if self.monotonic() >= self._due_at:
                self.start()
            return None
        code = self._process.poll()
        if code is None:
            return None
        self._process = None
        lived = self.monotonic() - self._started_at
        self._exits = 1 if lived >= _HEALTHY_AFTER_SECONDS else self._exits + 1
        wait = min(_FIRST_BACKOFF_SECONDS * 2 ** (self._exits - 1), _MAX_BACKOFF_SECONDS)
        self._due_at = self.monotonic() + wait
        log.warning(
            "a part ended and is started again",
            extra={"part": self.recipe.name, "how": describe_exit(code), "in_seconds": wait},
        )
        # A process that was killed had worked until then.
        self._own_exits = self._own_exits + 1 if code > 0 else 0
        if self._own_exits == _EXITS_UNTIL_MENDED and self.recipe.mend():
            self._exits, self._due_at = 0, self.monotonic()
        return code

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait_or_kill(self, *, hurry: Callable[[], bool] = lambda: False) -> None:
        """Wait for the exit; kill the process on timeout or if `hurry` returns True."""
        process = self._process
        if process is None:
            return
        deadline = self.monotonic() + self.recipe.stop_seconds
        while process.poll() is None and self.monotonic() < deadline and not hurry():
            time.sleep(0.02)
        if process.poll() is None:
            log.warning("a part did not stop in time", extra={"part": self.recipe.name})
            # Its session is its process group, so its children are killed too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(_KILL_SECONDS)
        self._process = None
        if self._pump is not None:
            self._pump.join(timeout=1)


def describe_exit(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def write_to_stderr(line: str) -> None:
    """Write a line to standard error, ignoring a closed pipe."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
