"""Serves an application through the real server, and ends it in the right order."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask
from waitress import wasyncore
from waitress.server import create_server

from service.web.review import LIVE


@contextmanager
def serving(app: Flask, *, threads: int = 4) -> Iterator[tuple[str, int]]:
    """Give the loopback address at which the application answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = create_server(app, sockets=[listener], map={}, threads=threads, ident=None)
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            wasyncore.loop(timeout=0.05, map=server._map, count=1)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()
    finally:
        app.extensions[LIVE].close()
        stop.set()
        thread.join()
        # The threads end before what they would wake is closed.
        server.task_dispatcher.shutdown(cancel_pending=True, timeout=5)
        wasyncore.close_all(server._map)
