"""The API process: serves the web application until it is told to stop, then drains."""

from __future__ import annotations

import argparse
import logging
import os
import select
import signal
import socket
import time
from types import FrameType
from typing import Any

from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server
from waitress.task import WSGITask

from service.listening import BACKLOG, listen
from service.operating import expose, show_streams, state_parts
from service.readiness import readiness_checks
from service.settings import Settings
from service.starting import start
from service.web.config import WebConfig
from service.web.flask_app import create_app
from service.web.headers import ARRIVED
from service.web.review import LIVE
from service.wiring import Wired, wire

log = logging.getLogger(__name__)

# Requests in progress may finish for this long after the order to stop; comments are kept before
# they are answered, so whoever is cut off can ask again and loses nothing.
DRAIN_SECONDS = 8.0
# Who was let in this lately may not have finished asking.
_FRESH_SECONDS = 1.0
_LOOK_EVERY_SECONDS = 0.5
# Connections beyond these wait in the socket's own line rather than being refused. The server looks
# at each open one at every event: 2026-11-20, 200 comment-checks a second offered to a machine with
# other work: with 1,000 allowed 61 were answered a second, with 250 104, with 100 173.
_CONNECTIONS = 128
# So few must not be held by clients that have nothing to say.
_IDLE_SECONDS = 30
# A little over what the largest route takes, so that its own 413 is what the sender reads.
_MAX_BODY_BYTES = 17 * 1024 * 1024
# A key that is revoked opens the Akismet calls for at most this long.
_KEY_MEMORY_SECONDS = 1.0
# Threads kept for requests that do not wait for a verdict.
_THREADS_NEVER_WAITING = 0.25
# Of those, how many open review pages may hold, and how many they leave free at least.
_MOST_STREAMS = 16
_THREADS_NEVER_HELD = 6


class _Parser(HTTPRequestParser):  # type: ignore[misc]  # waitress ships no types
    """A request that knows when the last of it had come in."""

    arrived = 0.0

    def received(self, data: bytes) -> int:
        """Take in more of the request; return how much of `data` is part of it."""
        taken: int = super().received(data)
        if self.completed and not self.arrived:
            self.arrived = time.perf_counter()
        return taken


class _Task(WSGITask):  # type: ignore[misc]  # waitress ships no types
    """A task that tells the application when its request came in, long before a thread was free."""

    def get_environment(self) -> dict[str, Any]:
        """Return the WSGI environment."""
        environ: dict[str, Any] = super().get_environment()
        environ[ARRIVED] = self.request.arrived
        return environ

    def build_response_header(self) -> bytes:
        """Return the head of the answer; while draining it says that no other will follow."""
        if self.version == "1.1" and not self.channel.server.accepting:
            self.set_close_on_finish()
        head: bytes = super().build_response_header()
        return head


class _Channel(HTTPChannel):  # type: ignore[misc]  # waitress ships no types
    parser_class = _Parser
    task_class = _Task


def main() -> None:
    """Run the API process; what keeps it from starting is said in one line."""
    wired, listener, shared = start("service.app", _prepare, inherits_socket=True)
    serve(wired, listener, shared=shared)
    wired.close()


def _prepare(settings: Settings, given: argparse.Namespace) -> tuple[Wired, socket.socket, bool]:
    wired = wire(settings, process="api")
    shared = given.fd is not None
    return wired, _inherited(given.fd) if shared else listen(settings), shared


def serve(wired: Wired, listener: socket.socket, *, shared: bool = False) -> None:
    """Serve until SIGTERM or SIGINT; then accept no more and let requests in progress finish.

    Connections that wait in the listener's line then are served too, unless it is `shared`: a
    successor on the same socket takes those.
    """
    settings = wired.settings
    exposition = expose("api", wired)
    exposition.ask_parts(state_parts(wired))
    application = create_app(
        wired.services, web_config(wired), readiness_checks(wired), exposition.text
    )
    exposition.also(show_streams(application.extensions[LIVE].count))
    server: Any = create_server(
        application,
        sockets=[listener],
        threads=settings.api_threads,
        connection_limit=_CONNECTIONS,
        max_request_body_size=_MAX_BODY_BYTES,
        channel_timeout=_IDLE_SECONDS,
        cleanup_interval=10,
        ident=None,
        # The application believes these headers only where a proxy is trusted, but it must see
        # them: whoever comes through a proxy on this machine is not this machine.
        clear_untrusted_proxy_headers=False,
    )
    server.channel_class = _Channel
    stopping = _stop_on_signals(server)
    log.info("api started", extra={"pid": os.getpid(), "threads": settings.api_threads})
    while not stopping:
        _turn(server)
    # Pages that are open hold a request for as long as they like.
    application.extensions[LIVE].close()
    _drain(server, shared=shared)
    exposition.close()
    log.info("api stopped")


def web_config(wired: Wired) -> WebConfig:
    """Return the edge's options."""
    settings = wired.settings
    never_waiting = max(1, round(settings.api_threads * _THREADS_NEVER_WAITING))
    return WebConfig(
        secret_key=wired.session_secret,
        https_only_cookies=settings.https_only_cookies,
        max_wait_seconds=settings.max_wait_seconds,
        requests_per_minute=settings.requests_per_minute,
        limiter_storage_url=wired.valkey_url.replace("unix://", "redis+unix://", 1),
        trusted_proxies=settings.trusted_proxies,
        max_waiting=max(1, settings.api_threads - never_waiting),
        max_streams=max(0, min(_MOST_STREAMS, never_waiting - _THREADS_NEVER_HELD)),
        key_memory_seconds=_KEY_MEMORY_SECONDS,
        require_second_factor=settings.require_second_factor,
        metrics_token=wired.metrics_token,
        retrain_data=settings.retrain_data,
    )


def _inherited(descriptor: int) -> socket.socket:
    return socket.socket(fileno=descriptor)


def _stop_on_signals(server: Any) -> list[int]:
    """Return a list that a signal to stop is put into."""
    received: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        server.pull_trigger()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return received


def _turn(server: Any) -> None:
    wasyncore.loop(timeout=_LOOK_EVERY_SECONDS, use_poll=True, map=server._map, count=1)  # noqa: SLF001  # waitress offers no other way to end


def _take_in_waiting(server: Any) -> None:
    """Accept the connections that wait in the socket's line: closing it would reset them."""
    line = select.poll()
    line.register(server.socket, select.POLLIN)
    for _ in range(BACKLOG):
        if not line.poll(0):
            break
        server.handle_accept()


def _drain(server: Any, *, shared: bool) -> None:
    # Closes the listening socket alone; open connections stay in the loop.
    server.del_channel()
    if not shared:
        _take_in_waiting(server)
    server.accepting = False
    server.socket.close()
    deadline = time.monotonic() + DRAIN_SECONDS
    while _in_progress(server) and time.monotonic() < deadline:
        _turn(server)
    server.task_dispatcher.shutdown(cancel_pending=True, timeout=1)


def _in_progress(server: Any) -> bool:
    lately = time.time() - _FRESH_SECONDS
    return any(
        channel.requests or channel.total_outbufs_len or channel.last_activity > lately
        for channel in server.active_channels.values()
    )


if __name__ == "__main__":
    main()
