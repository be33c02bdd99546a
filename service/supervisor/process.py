"""A supervised child process: starts it, forwards its output and restarts it."""

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

log = logging.getLogger(__name__)

_FIRST_BACKOFF_SECONDS = 0.25
_MAX_BACKOFF_SECONDS = 30.0
# A process that ran this long was healthy; its next exit counts as the first.
_HEALTHY_AFTER_SECONDS = 60.0
# After this many consecutive exits `mend` is called.
_EXITS_UNTIL_MENDED = 3
_MAX_LINE_BYTES = 8_192
_KILL_SECONDS = 5.0
_FORK = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """How to start a process and how long it may take to stop.

    With `run` the process is a fork that calls it and shares the memory of all modules imported so
    far; otherwise it executes `command`. It prints a line with `says_when_started` once it is
    ready. `mend` is called after three consecutive exits that no signal caused; it returns
    something true if that may have helped.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(repr=False)
    stop_seconds: float
    pass_fds: tuple[int, ...] = ()
    run: Callable[[], object] | None = None
    says_when_started: str = ""
    mend: Callable[[], object] = lambda: None


@dataclass(eq=False)
class ChildProcess:
    """A child process that is restarted, with growing pauses if it keeps exiting.

    `write_line` receives each line of its output, prefixed with the child's name; `works` is True
    once the process is ready. Use it from the main thread only: on Linux a child dies with the
    thread that started it, and a fork has no other thread.
    """

    spec: ProcessSpec
    write_line: Callable[[str], None]
    monotonic: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._process: BaseProcess | None = None
        # The pipe that the process writes to; None once it is closed.
        self.output: int | None = None
        self._unfinished_line = b""
        self.works = False
        self._started_at = 0.0
        self._due_at = 0.0
        self._exits = 0
        self._own_exits = 0

    def has_died(self) -> bool:
        return self._process is not None and self._process.exitcode is not None

    def start(self) -> None:
        self.output, theirs = os.pipe()
        os.set_blocking(self.output, False)
        self._process = _FORK.Process(target=_become, args=(self.spec, theirs))
        # The child would lose a signal that comes before it has handlers of its own.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        self._process.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(theirs)
        self._started_at = self.monotonic()

    def forward_output(self) -> bool:
        """Write the lines that the process has printed; return False if there was nothing to read.

        Call it often: the process waits while its pipe, of 64 kB, is full.
        """
        if self.output is None:
            return False
        try:
            chunk = os.read(self.output, _MAX_LINE_BYTES)
        except BlockingIOError:
            return False
        *lines, unfinished = (self._unfinished_line + chunk).split(b"\n")
        if not chunk or len(unfinished) >= _MAX_LINE_BYTES:
            lines.append(unfinished)
            unfinished = b""
        self._unfinished_line = unfinished
        for line in lines:
            self._forward_line(line.decode("utf-8", "replace").rstrip())
        if not chunk:
            self._close_output()
        return bool(chunk)

    def _forward_line(self, text: str) -> None:
        sign = self.spec.says_when_started
        if sign and sign in text:
            self.works = True
        if text:
            self.write_line(f"{self.spec.name:<9}| {text}")

    def _close_output(self) -> None:
        if self.output is not None:
            os.close(self.output)
            self.output = None

    def look_after(self) -> int | None:
        """Restart the process if it exited and its pause is over.

        Returns the exit code once, when the exit is found, otherwise None.
        """
        self.forward_output()
        if self._process is None:
            if self.monotonic() >= self._due_at:
                self.start()
            return None
        code = self._process.exitcode
        if code is None:
            return None
        self._end()
        lived = self.monotonic() - self._started_at
        self._exits = 1 if lived >= _HEALTHY_AFTER_SECONDS else self._exits + 1
        wait = min(_FIRST_BACKOFF_SECONDS * 2 ** (self._exits - 1), _MAX_BACKOFF_SECONDS)
        self._due_at = self.monotonic() + wait
        log.warning(
            "a process ended and is started again",
            extra={"part": self.spec.name, "how": describe_exit(code), "in_seconds": wait},
        )
        # A process that was killed had worked until then.
        self._own_exits = self._own_exits + 1 if code > 0 else 0
        if self._own_exits == _EXITS_UNTIL_MENDED and self.spec.mend():
            self._exits, self._due_at = 0, self.monotonic()
        return code

    def ask_to_stop(self) -> None:
        if self._process is not None:
            self._process.terminate()

    def wait_or_kill(
        self,
        *,
        pause: Callable[[float], object] = time.sleep,
        hurry: Callable[[], bool] = lambda: False,
    ) -> None:
        """Wait for the exit; kill the process on timeout or if `hurry` returns True.

        `pause` waits for the given seconds, and may forward the output of children meanwhile.
        """
        process = self._process
        if process is None:
            return
        deadline = self.monotonic() + self.spec.stop_seconds
        while process.exitcode is None and self.monotonic() < deadline and not hurry():
            pause(0.02)
        if process.exitcode is None:
            log.warning("a process did not stop in time", extra={"part": self.spec.name})
            # Its session is its process group, so its children are killed too.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            process.join(_KILL_SECONDS)
        self._end()

    def _end(self) -> None:
        while self.forward_output():
            pass
        self._close_output()
        self._process = None


def _become(spec: ProcessSpec, output: int) -> None:
    # Ctrl-C signals the supervisor only, which then stops the children in order.
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR2):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if spec.run is None:
        for descriptor in spec.pass_fds:
            os.set_inheritable(descriptor, True)  # noqa: FBT003  # It takes no keyword.
        command = list(spec.command)
        os.execve(command[0], command, spec.environment)  # noqa: S606  # No user input.
    # Among them are the lock of the data folder and the pipes of other children.
    for descriptor in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        if descriptor > 2 and descriptor not in spec.pass_fds:
            with contextlib.suppress(OSError):
                os.close(descriptor)
    os.environ.update(spec.environment)
    spec.run()


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
