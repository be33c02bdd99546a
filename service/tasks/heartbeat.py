"""Heartbeats of processes in Valkey; workers include their model version."""

import contextlib
import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import redis
from pydantic import TypeAdapter
from redis.exceptions import RedisError

from service.tasks.broker import QUEUE_NOTICE, queue_errors

# One hash per kind of process.
WORKERS = "slopsieve.workers"
BACKGROUND = "slopsieve.background"
INTERVAL_SECONDS = 5.0
# A worker sends none while it judges a batch, which takes seconds at most.
_EXPIRES_SECONDS = 15.0
# Comments lost by the queue, or left after an outage of a store, wait half a minute.
STUCK_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """A running process, as of `at`; `problem` is why a worker has no model, in one line, or None.

    `judged_at` is when it last stored a verdict, or started. Both times are in seconds since 1970.
    `retrains` is True for a background process that also retrains.
    """

    name: str = ""
    at: float = 0.0
    model: str = ""
    problem: str | None = None
    judged_at: float = 0.0
    retrains: bool = False


_STATUS = TypeAdapter(WorkerStatus)


def live_workers(client: redis.Redis, kind: str = WORKERS) -> list[WorkerStatus]:
    """Return processes of a kind with recent heartbeats. Raise `StoreUnavailableError`."""
    with queue_errors():
        statuses = _read(client, kind)
    return [status for status in statuses if time.time() - status.at < _EXPIRES_SECONDS]


def are_stuck(workers: Sequence[WorkerStatus], *, oldest: datetime | None, now: datetime) -> bool:
    """Return True if workers run but none has judged for `STUCK_SECONDS` while a comment waits.

    `oldest` is when the longest-waiting comment arrived.
    """
    long_ago = now - timedelta(seconds=STUCK_SECONDS)
    waits = bool(workers) and oldest is not None and oldest <= long_ago
    return waits and all(status.judged_at < long_ago.timestamp() for status in workers)


@dataclass(eq=False)
class Heartbeat:
    """Sends this process's heartbeats: what `describe` returns, with a name and the time.

    The name contains the host, which a probe looks for, and the process id. An unavailable or full
    Valkey is logged once, and raises nothing.
    """

    client: redis.Redis
    kind: str
    describe: Callable[[], WorkerStatus] = WorkerStatus
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}", init=False)
    is_first: bool = field(default=True, init=False)

    def beat(self) -> None:
        """Send a heartbeat; the first also removes dead processes' heartbeats."""
        status = replace(self.describe(), name=self.name, at=time.time())
        try:
            if self.is_first:
                dead_since = status.at - 2 * _EXPIRES_SECONDS
                dead = [one.name for one in _read(self.client, self.kind) if one.at < dead_since]
                if dead:
                    self.client.hdel(self.kind, *dead)
            with self.client.pipeline(transaction=False) as pipeline:
                pipeline.hset(self.kind, self.name, _STATUS.dump_json(status))
                # The hash expires once no process writes to it.
                pipeline.expire(self.kind, int(4 * _EXPIRES_SECONDS))
                pipeline.execute()
        except (RedisError, OSError) as error:
            QUEUE_NOTICE.away(error)
        else:
            self.is_first = False
            QUEUE_NOTICE.back()

    def stop(self) -> None:
        with contextlib.suppress(RedisError, OSError):
            self.client.hdel(self.kind, self.name)


def _read(client: redis.Redis, kind: str) -> list[WorkerStatus]:
    """Return all heartbeats of this kind; an unreadable one is from 1970."""
    fields: Any = client.hgetall(kind)
    statuses = []
    for name, value in fields.items():
        try:
            statuses.append(replace(_STATUS.validate_json(value), name=name))
        except ValueError:
            statuses.append(WorkerStatus(name=name))
    return statuses
