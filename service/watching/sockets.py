"""Lets the processes of one data folder ask each other what they counted."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client.metrics_core import Metric

from service.watching.families import unpack

_ENDING = ".sock"
_PRIVATE_FOLDER = 0o700
_MOST_SLOTS = 256
_LONGEST_PATH_BYTES = 100
# A process that holds its interpreter for longer than this is left out of one scrape.
_ASK_SECONDS = 1.0
_MOST_BYTES = 16 * 1024 * 1024


class MetricsSocket:
    """Answers with what this process counted whoever of our own user connects.

    It lies in `folder` as `PROCESS-SLOT.sock`, the lowest slot that no living process has.
    """

    def __init__(self, folder: Path, process: str, packed: Callable[[], bytes]) -> None:
        """Make the socket. Raise `OSError` where the folder cannot have one."""
        folder.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
        self.process = process
        self._packed = packed
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _turn(folder):
            self.slot, self._path = self._take_slot(folder)
            self._listener.listen(8)
        self._closed = False
        threading.Thread(target=self._serve, name="metrics", daemon=True).start()

    def _take_slot(self, folder: Path) -> tuple[str, Path]:
        for number in range(_MOST_SLOTS):
            path = folder / f"{self.process}-{number}{_ENDING}"
            if _is_taken(path):
                continue
            path.unlink(missing_ok=True)
            with _near(path) as address:
                self._listener.bind(address)
            return str(number), path
        raise OSError("no slot is free")

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._closed:
                connection.close()
                return
            with contextlib.suppress(OSError), connection:
                connection.settimeout(_ASK_SECONDS)
                connection.sendall(self._packed())

    def close(self) -> None:
        """Answer nobody any more."""
        self._closed = True
        self._path.unlink(missing_ok=True)
        # Closing alone does not wake who waits in accept().
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def ask_neighbours(folder: Path, *, except_socket: MetricsSocket | None) -> Iterator[Metric]:
    """Ask every living process of the folder but one; who does not answer is left out."""
    own = f"{except_socket.process}-{except_socket.slot}" if except_socket else ""
    for path in sorted(folder.glob(f"*{_ENDING}")):
        name = path.name.removesuffix(_ENDING)
        process, _, slot = name.rpartition("-")
        if name == own or not process:
            continue
        try:
            yield from unpack(_ask(path), process=process, slot=slot)
        except (OSError, ValueError):
            continue


def _ask(path: Path) -> bytes:
    connection = _connect(path)
    if connection is None:
        return b"[]"
    received = bytearray()
    with connection:
        while block := connection.recv(1 << 16):
            received += block
            if len(received) > _MOST_BYTES:
                raise ValueError("too much")
    return bytes(received)


def _is_taken(path: Path) -> bool:
    try:
        connection = _connect(path)
    except OSError:
        return True
    if connection is not None:
        connection.close()
    return connection is not None


def _connect(path: Path) -> socket.socket | None:
    """Return a connection to who listens there, None if nobody does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(_ASK_SECONDS)
    try:
        with _near(path) as address:
            connection.connect(address)
    except (ConnectionRefusedError, FileNotFoundError):
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _near(path: Path) -> Iterator[str]:
    """Give an address of the socket that fits: a kernel takes only some hundred bytes of path."""
    if len(os.fsencode(path)) <= _LONGEST_PATH_BYTES:
        yield str(path)
        return
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{path.name}"
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Let no two processes that start together take one slot."""
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
