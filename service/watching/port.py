"""Serves a process's metrics on a port of its own, for a collector that asks each by itself."""

from __future__ import annotations

import hmac
import logging
import socket
import socketserver
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from service.watching.families import CONTENT_TYPE

log = logging.getLogger(__name__)

# The predecessor of this process may hold the port until it has drained.
_TRY_EVERY_SECONDS = 0.5
_LOOK_EVERY_SECONDS = 0.2
# One client at a time is served: one that says nothing must not keep the others from it.
_PATIENCE_SECONDS = 2.0


class MetricsPort:
    """Answers `GET /metrics` on `address` until it is closed, in a thread of its own.

    With a `token` only to those who send it as `Authorization: Bearer`. While the port is taken,
    it is tried again.
    """

    def __init__(
        self, address: tuple[str, int], text: Callable[[], bytes], *, token: str | None
    ) -> None:
        self._address = address
        self._text = text
        self._token = token
        self._closed = threading.Event()
        self.bound: tuple[str, int] | None = None
        threading.Thread(target=self._run, name="metrics port", daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more, soon."""
        self._closed.set()

    def _run(self) -> None:
        server = self._bind()
        if server is None:
            return
        with server:
            host, port = server.server_address[:2]
            self.bound = (str(host), int(port))
            server.timeout = _LOOK_EVERY_SECONDS
            while not self._closed.is_set():
                server.handle_request()

    def _bind(self) -> HTTPServer | None:
        warned = False
        while not self._closed.is_set():
            try:
                return _Server(self._address, self._text, self._token)
            except OSError as error:
                if not warned:
                    log.warning(
                        "the port for metrics cannot be had yet",
                        extra={"port": self._address[1], "error": type(error).__name__},
                    )
                warned = True
                time.sleep(_TRY_EVERY_SECONDS)
        return None


class _Server(HTTPServer):
    def __init__(
        self, address: tuple[str, int], text: Callable[[], bytes], token: str | None
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.text = text
        self.token = token
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without asking anybody for this machine's name, as the library would."""
        socketserver.TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the library would print where the client is."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _PATIENCE_SECONDS
    server_version = "slopsieve"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer a scrape."""
        if self.path.partition("?")[0] != "/metrics":
            self._answer(404, b"metrics are at /metrics\n", "text/plain")
        elif not has_token(self.headers.get("Authorization", ""), self.server.token):
            self._answer(401, b"a bearer token is needed\n", "text/plain")
        else:
            self._answer(200, self.server.text(), CONTENT_TYPE)

    def _answer(self, status: int, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: the library would write the client's address and what it asked for."""


def has_token(authorization: str, token: str | None) -> bool:
    """Return True if a header holds this token, or if no token is set."""
    if token is None:
        return True
    scheme, _, given = authorization.partition(" ")
    return scheme.lower() == "bearer" and hmac.compare_digest(
        given.strip().encode(), token.encode()
    )
