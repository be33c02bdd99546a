"""Says which parts that Slopsieve needs are there, for `/readyz` and for the supervisor."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from service.domain.errors import StoreUnavailableError
from service.stores.sql import ping
from service.tasks.broker import open_client
from service.tasks.heartbeat import COURIERS, WorkerSign, live_workers
from service.wiring import Wired


def readiness_checks(wired: Wired) -> Mapping[str, Callable[[], str | None]]:
    """Return one check a part; each gives None, or one line on what is wrong."""
    client = open_client(wired.valkey_url)

    def database() -> str | None:
        return _problem(lambda: ping(wired.engine))

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


def _problem(ask: Callable[[], object]) -> str | None:
    try:
        ask()
    except StoreUnavailableError as error:
        return str(error)
    return None
