"""Heartbeats of processes in Valkey; workers include their model version."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import redis
from redis.exceptions import RedisError

from service.tasks.broker import QUEUE_NOTICE, unavailable

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
    """A running process; `model_problem` is why a worker has no model, in one line, or None.

    `judged_at` is when it last stored a verdict, or started, in seconds since 1970. `retrains` is
    True for a background process that also retrains.
    """

    name: str
    model_version: str = ""
    model_problem: str | None = None
    judged_at: float = 0.0
    retrains: bool = False


def live_workers(client: redis.Redis, kind: str = WORKERS) -> list[WorkerSign]:
    """Return processes of a kind with recent heartbeats. Raise `StoreUnavailableError`."""
    try:
        fields: Any = client.hgetall(kind)
    except (RedisError, OSError) as error:
        raise unavailable(error) from error
    signs = [_read(name, value) for name, value in fields.items()]
    return [sign for at, sign in signs if time.time() - at < _EXPIRES_SECONDS]


def are_stuck(workers: Sequence[WorkerSign], *, oldest: datetime | None, now: datetime) -> bool:
    """Return True if workers run but none has judged for `STUCK_SECONDS` while a comment waits.

    `oldest` is when the longest-waiting comment arrived.
    """
    long_ago = now - timedelta(seconds=STUCK_SECONDS)
    waits = bool(workers) and oldest is not None and oldest <= long_ago
    return waits and all(sign.judged_at < long_ago.timestamp() for sign in workers)


class Heartbeat:
    """Sends this process's heartbeats; `model` returns its version and problem.

    A heartbeat contains the host, which a probe looks for, and the process id. `judged_at` and
    `retrains` are as in `WorkerSign`. An unavailable or full Valkey is logged once, and raises
    nothing.
    """

    def __init__(
        self,
        client: redis.Redis,
        kind: str,
        model: Callable[[], tuple[str, str | None]] = lambda: ("", None),
        judged_at: Callable[[], float] = lambda: 0.0,
        *,
        retrains: bool = False,
    ) -> None:
        self._client = client
        self._kind = kind
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._model = model
        self._judged_at = judged_at
        self._retrains = retrains
        self._is_first = True

    def beat(self) -> None:
        """Send a heartbeat; the first also removes dead processes' heartbeats."""
        version, problem = self._model()
        sign = {
            "at": time.time(),
            "model": version,
            "problem": problem,
            "judged_at": self._judged_at(),
            "retrains": self._retrains,
        }
        try:
            if self._is_first:
                fields: Any = self._client.hgetall(self._kind)
                dead_since = time.time() - 2 * _EXPIRES_SECONDS
                dead = [
                    name for name, value in fields.items() if _read(name, value)[0] < dead_since
                ]
                if dead:
                    self._client.hdel(self._kind, *dead)
            with self._client.pipeline(transaction=False) as pipeline:
                pipeline.hset(self._kind, self._name, json.dumps(sign))
                # The hash expires once no process writes to it.
                pipeline.expire(self._kind, int(4 * _EXPIRES_SECONDS))
                pipeline.execute()
        except (RedisError, OSError) as error:
            QUEUE_NOTICE.away(error)
        else:
            self._is_first = False
            QUEUE_NOTICE.back()

    def stop(self) -> None:
        """Remove this process's heartbeat."""
        with contextlib.suppress(RedisError, OSError):
            self._client.hdel(self._kind, self._name)


def _read(name: str, value: str) -> tuple[float, WorkerSign]:
    """Return a heartbeat's time and content; an unreadable one is from 1970."""
    try:
        sign = json.loads(value)
        return float(sign["at"]), WorkerSign(
            name=name,
            model_version=sign["model"],
            model_problem=sign["problem"],
            judged_at=float(sign["judged_at"]),
            # Processes of the previous version do not send it.
            retrains=bool(sign.get("retrains")),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return 0.0, WorkerSign(name=name)
