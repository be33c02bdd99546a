"""Checks the parts that Slopsieve needs, for `/readyz` and for the supervisor."""

from __future__ import annotations

import time
from collections.abc import Callable

from service.doctor.checks import (
    judge_background,
    judge_models,
    judge_progress,
    judge_workers,
    remedy_for_database,
    remedy_for_queue,
)
from service.domain.errors import StoreUnavailableError
from service.domain.finding import Finding, fail, well
from service.stores.sql import ping, prove_write
from service.tasks import broker
from service.tasks.heartbeat import BACKGROUND, live_workers
from service.web.edge.health import Checks
from service.wiring import Wired

# A commit waits for the disk, and `/readyz` answers whoever asks: in between a read is enough.
_PROOF_LASTS_SECONDS = 5.0
_UNKNOWN = fail(
    "queue", "unknown while the queue cannot be used", "Put the queue right; then ask again."
)


def readiness_checks(wired: Wired) -> Checks:
    """Return one check a part; the doctor asks the same and more."""
    services = wired.services
    client = broker.open_client(wired.valkey_url)
    database_proof = write_proof(
        ping=lambda: ping(wired.engine),
        prove_write=lambda: prove_write(wired.engine, at=services.clock()),
    )
    queue_proof = write_proof(
        ping=services.queue.depth, prove_write=lambda: broker.prove_write(client)
    )

    def database() -> Finding:
        return _asked("database", database_proof, remedy_for_database)

    def queue() -> Finding:
        return _asked("queue", queue_proof, remedy_for_queue)

    def while_queue(check: Callable[[], Finding]) -> Callable[[], Finding]:
        """Ask only while the queue takes writes: otherwise nobody can give a sign of life."""
        return lambda: check() if queue().is_well else _UNKNOWN

    def judging() -> Finding:
        try:
            oldest = services.backlog.oldest_unjudged()
        except StoreUnavailableError as error:
            return fail("judging", str(error), remedy_for_database(error))
        now = services.clock()
        return judge_progress(live_workers(client), oldest=oldest, now=now)

    return {
        "database": database,
        "queue": queue,
        "worker": while_queue(lambda: judge_workers(live_workers(client))),
        "model": while_queue(lambda: judge_models(live_workers(client))),
        "judging": while_queue(judging),
        "background": while_queue(lambda: judge_background(live_workers(client, BACKGROUND))),
    }


def write_proof(
    *,
    ping: Callable[[], object],
    prove_write: Callable[[], None],
    monotonic: Callable[[], float] = time.monotonic,
) -> Callable[[], None]:
    """Return a check that writes every few seconds and reads in between.

    It raises `StoreUnavailableError`. A failure is not remembered: what heals is ready at the next
    question.
    """
    proven_until = float("-inf")

    def renew() -> None:
        nonlocal proven_until
        if monotonic() < proven_until:
            ping()
            return
        proven_until = float("-inf")
        prove_write()
        proven_until = monotonic() + _PROOF_LASTS_SECONDS

    return renew


def _asked(
    part: str, ask: Callable[[], object], remedy: Callable[[StoreUnavailableError], str]
) -> Finding:
    try:
        ask()
    except StoreUnavailableError as error:
        return fail(part, str(error), remedy(error))
    return well(part, "it answers and takes a write")
