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
class WorkerSign:
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


_SIGN = TypeAdapter(WorkerSign)


def live_workers(client: redis.Redis, kind: str = WORKERS) -> list[WorkerSign]:
    """Return processes of a kind with recent heartbeats. Raise `StoreUnavailableError`."""
    with queue_errors():
        signs = _read(client, kind)
    return [sign for sign in signs if time.time() - sign.at < _EXPIRES_SECONDS]


def are_stuck(workers: Sequence[WorkerSign], *, oldest: datetime | None, now: datetime) -> bool:
    """Return True if workers run but none has judged for `STUCK_SECONDS` while a comment waits.

    `oldest` is when the longest-waiting comment arrived.
    """
    long_ago = now - timedelta(seconds=STUCK_SECONDS)
    waits = bool(workers) and oldest is not None and oldest <= long_ago
    return waits and all(sign.judged_at < long_ago.timestamp() for sign in workers)


@dataclass(eq=False)
class Heartbeat:
    """Sends this process's heartbeats: what `describe` returns, with a name and the time.

    The name contains the host, which a probe looks for, and the process id. An unavailable or full
    Valkey is logged once, and raises nothing.
    """

    client: redis.Redis
    kind: str
    describe: Callable[[], WorkerSign] = WorkerSign
    name: str = field(default_factory=lambda: f"{socket.gethostname()}:{os.getpid()}", init=False)
    is_first: bool = field(default=True, init=False)

    def beat(self) -> None:
        """Send a heartbeat; the first also removes dead processes' heartbeats."""
        sign = replace(self.describe(), name=self.name, at=time.time())
        try:
            if self.is_first:
                dead_since = sign.at - 2 * _EXPIRES_SECONDS
                signs = _read(self.client, self.kind)
                dead = [one.name for one in signs if one.at < dead_since]
                if dead:
                    self.client.hdel(self.kind, *dead)
            with self.client.pipeline(transaction=False) as pipeline:
                pipeline.hset(self.kind, self.name, _SIGN.dump_json(sign))
                # The hash expires once no process writes to it.
                pipeline.expire(self.kind, int(4 * _EXPIRES_SECONDS))
                pipeline.execute()
        except (RedisError, OSError) as error:
            QUEUE_NOTICE.away(error)
        else:
            self.is_first = False
            QUEUE_NOTICE.back()

    def stop(self) -> None:
        """Remove this process's heartbeat."""
        with contextlib.suppress(RedisError, OSError):
            self.client.hdel(self.kind, self.name)


def _read(client: redis.Redis, kind: str) -> list[WorkerSign]:
    """Return all heartbeats of this kind; an unreadable one is from 1970."""
    fields: Any = client.hgetall(kind)
    signs = []
    for name, value in fields.items():
        try:
            signs.append(replace(_SIGN.validate_json(value), name=name))
        except ValueError:
            signs.append(WorkerSign(name=name))
    return signs
