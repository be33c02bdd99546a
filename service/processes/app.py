"""The API process: serves the web application until it is told to stop, then drains."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import socket
from types import FrameType

from service.listening import listen
from service.processes.http_server import HttpServer
from service.processes.operating import expose, state_parts
from service.processes.readiness import readiness_checks
from service.processes.starting import start
from service.settings import Settings
from service.web.app import create_app
from service.web.edge.config import WebConfig
from service.web.edge.current import WAITER
from service.wiring import Wired, wire

log = logging.getLogger(__name__)

# A key that is revoked opens the Akismet calls for at most this long.
_KEY_MEMORY_SECONDS = 1.0
# Threads kept for requests that do not wait for a verdict.
_THREADS_NEVER_WAITING = 0.25


def main() -> None:
    """Run the API process; what keeps it from starting is said in one line."""
    wired, listener, shared = start("app", _prepare, inherits_socket=True)
    serve(wired, listener, shared=shared)
    wired.close()


def _prepare(settings: Settings, given: argparse.Namespace) -> tuple[Wired, socket.socket, bool]:
    wired = wire(settings)
    shared = given.fd is not None
    listener = socket.socket(fileno=given.fd) if shared else listen(settings)
    return wired, listener, shared


def serve(wired: Wired, listener: socket.socket, *, shared: bool = False) -> None:
    """Serve until SIGTERM or SIGINT, then drain; a successor serves on a `shared` socket."""
    settings = wired.settings
    exposition = expose("api", wired, parts=state_parts(wired))
    application = create_app(
        wired.services, web_config(wired), readiness_checks(wired), exposition.text
    )
    server = HttpServer(
        application,
        listener,
        threads=settings.api_threads,
        trusted_proxies=settings.trusted_proxies,
        refuses_checks=application.extensions[WAITER].refused_lately,
    )
    stopping = _stop_on_signals(server)
    log.info("api started", extra={"pid": os.getpid(), "threads": settings.api_threads})
    while not stopping:
        server.turn()
    server.drain(shared=shared)
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
        key_memory_seconds=_KEY_MEMORY_SECONDS,
        require_second_factor=settings.require_second_factor,
        metrics_token=wired.metrics_token,
        keep_held_spam_days=settings.keep_held_spam_days,
        retrain_data=settings.retrain_data,
    )


def _stop_on_signals(server: HttpServer) -> list[int]:
    """Return a list that a signal to stop is put into."""
    received: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        server.pull_trigger()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return received


if __name__ == "__main__":
    main()
