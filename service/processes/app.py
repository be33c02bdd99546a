"""The API process: serves the web application until a signal stops it, then drains."""

import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from service.doctor import checks
from service.domain.errors import StoreUnavailableError
from service.domain.finding import Finding, fail, ok
from service.listening import listen
from service.processes.http_server import HttpServer
from service.processes.operating import expose, state_parts
from service.processes.starting import starting
from service.stores.sql import ping, prove_write
from service.tasks.broker import prove_write as prove_queue_write
from service.tasks.heartbeat import BACKGROUND, live_workers
from service.web.app import create_app
from service.web.edge.current import WAITER
from service.web.edge.health import Checks
from service.wiring import Wired

log = logging.getLogger(__name__)

# A commit waits for the disk, and any client may request `/readyz`; a read suffices in between.
_PROOF_CACHED_SECONDS = 5.0
_UNKNOWN = fail(
    "queue", "unknown while the queue cannot be used", "Put the queue right; then ask again."
)


def main() -> None:
    with starting("app") as (settings, inherited):
        wired = Wired(settings)
        listener = listen(settings) if inherited is None else socket.socket(fileno=inherited)
    serve(wired, listener, shared=inherited is not None)
    wired.close()


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
        refuses_checks=application.extensions[WAITER].is_full,
    )
    stopping: list[int] = []

    def stop(number: int, _frame: object) -> None:
        stopping.append(number)
        server.pull_trigger()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    log.info("api started", extra={"pid": os.getpid(), "threads": settings.api_threads})
    while not stopping:
        server.turn()
    server.drain(shared=shared)
    exposition.close()
    log.info("api stopped")


def web_config(wired: Wired) -> Mapping[str, Any]:
    settings = wired.settings
    # A quarter of the threads is reserved for requests that do not wait for a verdict.
    never_waiting = max(1, round(settings.api_threads * 0.25))
    return {
        "SECRET_KEY": wired.session_secret,
        "SESSION_COOKIE_SECURE": settings.https_only_cookies,
        "KEEP_HELD_SPAM_DAYS": settings.keep_held_spam_days,
        "MAX_WAITING": max(1, settings.api_threads - never_waiting),
        "METRICS_TOKEN": wired.metrics_token,
        "RATELIMIT_STORAGE_URI": wired.valkey_url.replace("unix://", "redis+unix://", 1),
        "REQUESTS_PER_MINUTE": settings.requests_per_minute,
        "REQUIRE_SECOND_FACTOR": settings.require_second_factor,
        "RETRAIN_DATA": settings.retrain_data,
        "TRUSTED_PROXIES": settings.trusted_proxies,
    }


def readiness_checks(wired: Wired) -> Checks:
    """Return one check per part; `slopsieve doctor` runs these and more."""
    services = wired.services
    client = wired.valkey
    database_proof = write_proof(
        ping=lambda: ping(wired.engine),
        prove_write=lambda: prove_write(wired.engine, at=services.clock()),
    )
    queue_proof = write_proof(
        ping=services.queue.depth, prove_write=lambda: prove_queue_write(client)
    )

    database = partial(_finding, "database", database_proof, checks.remedy_for_database)
    queue = partial(_finding, "queue", queue_proof, checks.remedy_for_queue)

    def while_queue(check: Callable[[], Finding]) -> Callable[[], Finding]:
        """Check only while the queue accepts writes: otherwise no heartbeat can be sent."""
        return lambda: check() if queue().is_ok else _UNKNOWN

    def judging() -> Finding:
        try:
            oldest = services.figures.oldest_unjudged()
        except StoreUnavailableError as error:
            return fail("judging", str(error), checks.remedy_for_database(error))
        return checks.judge_progress(live_workers(client), oldest=oldest, now=services.clock())

    return {
        "database": database,
        "queue": queue,
        "worker": while_queue(lambda: checks.judge_workers(live_workers(client))),
        "model": while_queue(lambda: checks.judge_models(live_workers(client))),
        "judging": while_queue(judging),
        "background": while_queue(
            lambda: checks.judge_background(live_workers(client, BACKGROUND))
        ),
    }


def write_proof(
    *,
    ping: Callable[[], object],
    prove_write: Callable[[], None],
    monotonic: Callable[[], float] = time.monotonic,
) -> Callable[[], None]:
    """Return a check that writes every few seconds and reads in between.

    It raises `StoreUnavailableError`. Failures are not cached.
    """
    proven_until = float("-inf")

    def renew() -> None:
        nonlocal proven_until
        if monotonic() < proven_until:
            ping()
            return
        proven_until = float("-inf")
        prove_write()
        proven_until = monotonic() + _PROOF_CACHED_SECONDS

    return renew


def _finding(
    part: str, ask: Callable[[], object], remedy: Callable[[StoreUnavailableError], str]
) -> Finding:
    try:
        ask()
    except StoreUnavailableError as error:
        return fail(part, str(error), remedy(error))
    return ok(part, "it answers and takes a write")


if __name__ == "__main__":
    main()
