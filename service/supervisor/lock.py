"""Lets one supervisor at a time use a data folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.start_error import ExitCode, StartError


@contextmanager
def only_one(path: Path) -> Iterator[None]:
    """Hold the lock file until the block ends. Raise `StartError` if another process holds it.

    The lock goes with its process, however that ends; the file stays.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = path.read_text(encoding="utf-8").strip() or "unknown"
            msg = (
                f"Slopsieve already runs on the data folder {path.parent} (process {holder}); "
                "stop it first, or choose another folder with --data-dir"
            )
            raise StartError(msg, ExitCode.ALREADY_RUNNING) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)
