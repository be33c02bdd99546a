"""Lets only one process at a time work on a folder."""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from service.domain.errors import ModerationError
from service.start_error import ExitCode, StartError

# The time that children of a killed process have to end after their SIGTERM.
_ENDING_SECONDS = 20.0


@contextmanager
def hold_lock(
    path: Path, refuse: Callable[[str], ModerationError], *, ending_seconds: float
) -> Iterator[int]:
    """Hold the lock file until the block ends, and yield its descriptor.

    A child that inherits the descriptor holds the lock too. The lock is released when its last
    holder ends; the file stays. If another process holds the lock, or children of an ended process
    still hold it after `ending_seconds`, raises what `refuse` returns for the holder's process id.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + ending_seconds
        while not _take(descriptor):
            pid = path.read_text(encoding="utf-8").strip()
            if _lives(pid) or time.monotonic() > deadline:
                raise refuse(pid or "unknown")
            time.sleep(0.05)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def only_one(
    path: Path, *, ending_seconds: float = _ENDING_SECONDS
) -> contextlib.AbstractContextManager[int]:
    """Hold the lock of a data folder. Raises `StartError` if Slopsieve runs on it."""

    def refuse(pid: str) -> StartError:
        msg = (
            f"Slopsieve already runs on the data folder {path.parent} (process {pid}); "
            "stop it first, or choose another folder with --data-dir"
        )
        return StartError(msg, ExitCode.ALREADY_RUNNING)

    return hold_lock(path, refuse, ending_seconds=ending_seconds)


def holder(path: Path) -> int | None:
    """Return the process id of the lock file's holder, None if it isn't locked."""
    try:
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return None


def _take(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except (ValueError, PermissionError):
        # The file isn't written yet, or the process is another user's.
        return True
    return True
