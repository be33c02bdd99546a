"""A TCP proxy that delays, cuts and redirects, so that a real server seems slow or fails over."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

_CHUNK = 65_536


class Proxy:
    """Passes bytes on to `target`; what it does otherwise may be changed at any time.

    `delay_seconds` is waited before each piece of an answer, `cuts` ends a connection as soon as
    something is asked on it, `cuts_once` does so a single time. A new `target` counts for new
    connections; `drop` ends those there are.
    """

    def __init__(self, target: int) -> None:
        self.target = target
        self.delay_seconds = 0.0
        self.cuts = False
        self.cuts_once = False
        self._closed = threading.Event()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def drop(self) -> None:
        """End every connection."""
        for one in list(self._open):
            _end(one)

    def close(self) -> None:
        """End everything."""
        self._closed.set()
        _end(self._listener)
        self.drop()
        self._thread.join(5)

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.target), timeout=5)
            except OSError:
                _end(client)
                continue
            server.settimeout(None)
            self._open |= {client, server}
            for source, sink, asks in ((client, server, True), (server, client, False)):
                threading.Thread(
                    target=self._pump, args=(source, sink), kwargs={"asks": asks}, daemon=True
                ).start()

    def _pump(self, source: socket.socket, sink: socket.socket, *, asks: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                if asks and (self.cuts or self.cuts_once):
                    self.cuts_once = False
                    break
                if not asks and self.delay_seconds:
                    self._closed.wait(self.delay_seconds)
                sink.sendall(data)
        _end(source)
        _end(sink)
        self._open -= {source, sink}


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


@contextlib.contextmanager
def running_proxy(target: int) -> Iterator[Proxy]:
    """Run a proxy to this port of the loopback address until the block ends."""
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
