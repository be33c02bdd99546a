"""Serves an application through the real server, and ends it in the right order."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from waitress import wasyncore

from service.listening import BACKLOG
from service.processes.http_server import HttpServer


@contextmanager
def serving(app: Flask, *, threads: int = 4, **options: Any) -> Iterator[tuple[str, int]]:
    """Give the loopback address at which the application answers."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    server = HttpServer(app, listener, threads=threads, **options)
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            server.turn()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()
    finally:
        stop.set()
        server.pull_trigger()
        thread.join()
        # The threads end before what they would wake is closed.
        server.task_dispatcher.shutdown(cancel_pending=True, timeout=5)
        # Their files too, which a large answer is kept in.
        for channel in list(server.active_channels.values()):
            channel.handle_close()
        wasyncore.close_all(server._map)
