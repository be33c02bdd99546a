"""Lets one supervisor at a time use a data folder."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.start_error import ExitCode, StartError

# How long what a killed supervisor left behind is given to end; it has been told to.
_ENDING_SECONDS = 20.0
_LOOK_EVERY_SECONDS = 0.05


@contextmanager
def only_one(path: Path, *, ending_seconds: float = _ENDING_SECONDS) -> Iterator[int]:
    """Hold the lock file until the block ends; give its descriptor.

    A child that inherits the descriptor holds the lock too. The lock goes with its last holder,
    however that ends; the file stays. Raises `StartError` if another supervisor holds it, or one
    that is gone left a child that does not end in time.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            _lock(descriptor, path, time.monotonic() + ending_seconds)
        except BlockingIOError:
            holder = path.read_text(encoding="utf-8").strip() or "unknown"
            msg = (
                f"Slopsieve already runs on the data folder {path.parent} (process {holder}); "
                "stop it first, or choose another folder with --data-dir"
            )
            raise StartError(msg, ExitCode.ALREADY_RUNNING) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield descriptor
    finally:
        os.close(descriptor)


def holder(path: Path) -> int | None:
    """Return the process that holds the lock file, None if none does."""
    try:
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return None


def _lock(descriptor: int, path: Path, deadline: float) -> None:
    """Take the lock, waiting only for what outlives its supervisor. Raise `BlockingIOError`."""
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if _supervisor_lives(path) or time.monotonic() > deadline:
                raise
            time.sleep(_LOOK_EVERY_SECONDS)
        else:
            return


def _supervisor_lives(path: Path) -> bool:
    with contextlib.suppress(ProcessLookupError, OverflowError):
        try:
            os.kill(int(path.read_text(encoding="utf-8")), 0)
        except (ValueError, PermissionError):
            # Not written yet, or another user's: there is someone.
            return True
        return True
    return False
