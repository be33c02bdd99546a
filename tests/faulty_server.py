"""Puts faults between a browser and the application: refusals, hangs, connections that drop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from flask import Flask

Answer = Callable[..., Any]
AWAY, BAD_GATEWAY = "503 Away", "502 Bad Gateway"
DROPPED = "dropped"
"""The request is served and its answer never arrives whole."""
HANGS = "hangs"
"""The request is served, and its answer comes too late."""


@dataclass(slots=True)
class Faults:
    """Which fault each POST meets: `plan` is given its number from 0 on, and its path.

    `others` is given the path of whatever else is asked for.
    """

    plan: Callable[[int, str], str | None] = lambda _number, _path: None
    others: Callable[[str], str | None] = lambda _path: None
    hang_seconds: float = 11.0
    posts: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def put_before(self, app: Flask) -> Flask:
        """Let every request of this application meet them; return the application."""
        inner = app.wsgi_app

        def faulty(environ: dict[str, Any], start_response: Answer) -> Iterable[bytes]:
            fault = self._fault(environ["REQUEST_METHOD"], environ["PATH_INFO"])
            if fault in {AWAY, BAD_GATEWAY}:
                start_response(fault, [("Content-Type", "text/html"), ("Content-Length", "4")])
                return [b"Away"]
            if fault == HANGS:
                served = list(inner(environ, start_response))
                time.sleep(self.hang_seconds)
                return served
            if fault == DROPPED:
                b"".join(inner(environ, lambda *_: None))
                start_response("200 OK", [("Content-Length", "1000")])
                return _breaking_off()
            return inner(environ, start_response)

        app.wsgi_app = faulty  # type: ignore[method-assign]  # as its documentation says
        return app

    def _fault(self, method: str, path: str) -> str | None:
        if method != "POST":
            return self.others(path)
        if not path.endswith(("/decision", "/undo", "/skip")):
            return None
        with self._lock:
            self.posts.append(path)
            return self.plan(len(self.posts) - 1, path)


def _breaking_off() -> Iterable[bytes]:
    yield b"half an ans"
    raise ConnectionError
