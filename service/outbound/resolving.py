"""Looks up a host's addresses within a time."""

from __future__ import annotations

import queue
import socket
import threading
from collections.abc import Callable, Sequence

from service.outbound.exchange import OutOfTimeError

Resolver = Callable[[str, int], Sequence[str]]
"""Returns the addresses of a host, for a port; raises `OSError` if it has none."""

# A look-up that hangs cannot be stopped, only left behind; this many may hang at once.
_MAX_AT_ONCE = 64


def system_resolver(host: str, port: int) -> list[str]:
    """Ask the operating system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class TimedResolver:
    """Gives up on a look-up that takes too long."""

    def __init__(self, resolve: Resolver) -> None:
        self._resolve = resolve
        self._places = threading.Semaphore(_MAX_AT_ONCE)

    def __call__(self, host: str, port: int, *, seconds: float) -> Sequence[str]:
        """Return the host's addresses. Raises `OutOfTimeError`, `OSError`."""
        if not self._places.acquire(timeout=seconds):
            raise OutOfTimeError
        answers: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._resolve(host, port))
            except Exception as error:  # noqa: BLE001  # told to whoever waits
                answers.put(error)
            finally:
                self._places.release()

        threading.Thread(target=ask, daemon=True).start()
        try:
            answer = answers.get(timeout=seconds)
        except queue.Empty:
            raise OutOfTimeError from None
        if isinstance(answer, UnicodeError):
            raise OSError("no such host") from None
        if isinstance(answer, Exception):
            raise answer
        return answer
