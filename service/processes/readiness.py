"""Says which parts that Slopsieve needs are there, for `/readyz` and for the supervisor."""

from __future__ import annotations

import time
from collections.abc import Callable

from service import remedies
from service.domain.errors import StoreUnavailableError
from service.stores.sql import ping, prove_write
from service.tasks import broker
from service.tasks.heartbeat import (
    BACKGROUND,
    STUCK_SECONDS,
    WorkerSign,
    are_stuck,
    live_workers,
)
from service.web.edge.health import Checks, Unready
from service.wiring import Wired

# A commit waits for the disk, and `/readyz` answers whoever asks: in between a read is enough.
_PROOF_LASTS_SECONDS = 5.0

_NO_WORKER = Unready(
    says="no worker has given a sign of life lately",
    remedy="Start a worker; comments are kept meanwhile and judged later.",
)
_NO_BACKGROUND = Unready(
    says="the background process has given no sign of life lately",
    remedy="Start it; what sites are to be told is kept meanwhile, lost comments wait.",
)
_NO_QUEUE = Unready(
    says="unknown while the queue cannot be used", remedy="Put the queue right; then ask again."
)
_STUCK = Unready(
    says=f"comments wait, and workers stored no verdict for {STUCK_SECONDS:.0f} s",
    remedy="slopsieve doctor looks for damage and want of room; a worker's last lines say more.",
)


def readiness_checks(wired: Wired) -> Checks:
    """Return one check a part; each gives None, or what is wrong and what to do."""
    services = wired.services
    client = broker.open_client(wired.valkey_url)
    database_proof = WriteProof(
        ping=lambda: ping(wired.engine),
        prove_write=lambda: prove_write(wired.engine, at=services.common.clock()),
    )
    queue_proof = WriteProof(
        ping=services.intake.queue.depth, prove_write=lambda: broker.prove_write(client)
    )

    def database() -> Unready | None:
        return _problem(database_proof.renew, remedies.for_database)

    def queue() -> Unready | None:
        return _problem(queue_proof.renew, remedies.for_queue)

    def while_queue(ask: Callable[[], Unready | None]) -> Callable[[], Unready | None]:
        """Ask only while the queue takes writes: otherwise nobody can give a sign of life."""
        return lambda: _NO_QUEUE if queue() else ask()

    def worker() -> Unready | None:
        return None if live_workers(client) else _NO_WORKER

    def model() -> Unready | None:
        return judge_models(live_workers(client))

    def judging() -> Unready | None:
        try:
            oldest = services.intake.backlog.oldest_unjudged()
        except StoreUnavailableError as error:
            return Unready(says=str(error), remedy=remedies.for_database(error))
        stuck = are_stuck(live_workers(client), oldest=oldest, now=services.common.clock())
        return _STUCK if stuck else None

    def background() -> Unready | None:
        return None if live_workers(client, BACKGROUND) else _NO_BACKGROUND

    return {
        "database": database,
        "queue": queue,
        "worker": while_queue(worker),
        "model": while_queue(model),
        "judging": while_queue(judging),
        "background": while_queue(background),
    }


def judge_models(workers: list[WorkerSign]) -> Unready | None:
    """Find a worker that has no model."""
    if not workers:
        return Unready(says="unknown while there is no worker", remedy=_NO_WORKER.remedy)
    problem = next((sign.model_problem for sign in workers if sign.model_problem), None)
    remedy = "slopsieve models list, slopsieve models promote VERSION; all is unsure meanwhile."
    return Unready(says=problem, remedy=remedy) if problem else None


class WriteProof:
    """Asks for a write every few seconds, and for a read in between."""

    def __init__(
        self,
        *,
        ping: Callable[[], object],
        prove_write: Callable[[], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ping = ping
        self._prove_write = prove_write
        self._monotonic = monotonic
        self._proven_until = float("-inf")

    def renew(self) -> None:
        """Return if reading works, and writing did lately. Raise `StoreUnavailableError`.

        A failure is not remembered: what heals is ready at the next question.
        """
        if self._monotonic() < self._proven_until:
            self._ping()
            return
        self._proven_until = float("-inf")
        self._prove_write()
        self._proven_until = self._monotonic() + _PROOF_LASTS_SECONDS


def _problem(
    ask: Callable[[], object], remedy: Callable[[StoreUnavailableError], str]
) -> Unready | None:
    try:
        ask()
    except StoreUnavailableError as error:
        return Unready(says=str(error), remedy=remedy(error))
    return None
