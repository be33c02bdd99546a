"""Makes the Celery workers of processes whose work is done by a thread that messages wake."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from celery import Celery
from celery.platforms import SecurityWarning

from service.tasks.broker import open_client
from service.tasks.celery_app import make_celery
from service.tasks.heartbeat import Signs, own_name, register_heartbeat
from service.tasks.names import QueueName


def make_woken_worker(
    valkey_url: str, register: Callable[[Celery], object], *, queue: QueueName, kind: str
) -> Any:
    """Return a worker of one queue that gives signs of life of a kind. It loads no classifier.

    `register` teaches it its task.
    """
    # Celery warns root about messages that run code; ours carry nothing at all.
    warnings.simplefilter("ignore", SecurityWarning)
    app = make_celery(valkey_url)
    register(app)
    register_heartbeat(app, Signs(open_client(valkey_url), kind, own_name()))
    return app.Worker(
        pool="solo",
        queues=[queue.value],
        loglevel="WARNING",
        quiet=True,
        without_mingle=True,
        without_gossip=True,
        without_heartbeat=True,
    )
