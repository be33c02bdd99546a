"""Says which parts that Slopsieve needs are there, for `/readyz` and for the supervisor."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from service.domain.errors import StoreUnavailableError
from service.stores.sql import ping, prove_write
from service.tasks.broker import open_client
from service.tasks.heartbeat import COURIERS, WorkerSign, live_workers
from service.wiring import Wired

# A commit waits for the disk, and `/readyz` answers whoever asks: in between a read is enough.
_PROOF_LASTS_SECONDS = 5.0


def readiness_checks(wired: Wired) -> Mapping[str, Callable[[], str | None]]:
    """Return one check a part; each gives None, or one line on what is wrong."""
    client = open_client(wired.valkey_url)
    proof = WriteProof(
        ping=lambda: ping(wired.engine),
        prove_write=lambda: prove_write(wired.engine, at=wired.services.clock()),
    )

    def database() -> str | None:
        return _problem(proof.renew)

    def queue() -> str | None:
        return _problem(wired.services.queue.depth)

    def workers() -> list[WorkerSign]:
        return live_workers(client)

    def worker() -> str | None:
        problem = _problem(workers)
        return problem or (None if workers() else "no worker has given a sign of life lately")

    def model() -> str | None:
        problem = _problem(workers)
        if problem:
            return problem
        signs = workers()
        if not signs:
            return "unknown while there is no worker"
        return next((s.model_problem for s in signs if s.model_problem), None)

    def callbacks() -> str | None:
        def couriers() -> list[WorkerSign]:
            return live_workers(client, COURIERS)

        problem = _problem(couriers)
        return problem or (None if couriers() else "nobody tells sites: no sign of life lately")

    return {
        "database": database,
        "queue": queue,
        "worker": worker,
        "model": model,
        "callbacks": callbacks,
    }


class WriteProof:
    """Asks for a write every few seconds, and for a read in between."""

    def __init__(
        self,
        *,
        ping: Callable[[], None],
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


def _problem(ask: Callable[[], object]) -> str | None:
    try:
        ask()
    except StoreUnavailableError as error:
        return str(error)
    return None
