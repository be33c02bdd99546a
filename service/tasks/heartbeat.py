"""Lets processes say through Valkey that they are alive, workers with which model version."""

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

# One hash a kind.
WORKERS = "slopsieve.workers"
BACKGROUND = "slopsieve.background"
INTERVAL_SECONDS = 5.0
# A worker is silent while it judges a batch; the slowest plausible batch takes some seconds.
_ALIVE_FOR_SECONDS = 15.0
# What the queue lost is judged half a minute later, what met a store that was away likewise.
STUCK_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSign:
    """One living process; `model_problem` says in one line why a worker has no model, if so.

    `judged_at` is when it last stored a verdict, or began, in seconds since 1970. `retrains` says
    that a background process retrains too.
    """

    name: str
    model_version: str = ""
    model_problem: str | None = None
    judged_at: float = 0.0
    retrains: bool = False


def live_workers(client: redis.Redis, kind: str = WORKERS) -> list[WorkerSign]:
    """Return the processes of a kind heard of lately. Raise `StoreUnavailableError`."""
    try:
        fields: Any = client.hgetall(kind)
    except (RedisError, OSError) as error:
        raise unavailable(error) from error
    signs = [_read(name, value) for name, value in fields.items()]
    return [sign for at, sign in signs if time.time() - at < _ALIVE_FOR_SECONDS]


def are_stuck(workers: Sequence[WorkerSign], *, oldest: datetime | None, now: datetime) -> bool:
    """Return True if workers live, and for `STUCK_SECONDS` none judged while a comment waits.

    `oldest` is when the comment came in that waits longest.
    """
    long_ago = now - timedelta(seconds=STUCK_SECONDS)
    waits = bool(workers) and oldest is not None and oldest <= long_ago
    return waits and all(sign.judged_at < long_ago.timestamp() for sign in workers)


class Heartbeat:
    """Says of this process that it is alive; `model` returns its version and problem.

    It signs with its host, which a probe looks for, and its process id. `judged_at` and `retrains`
    are as in `WorkerSign`. That Valkey is away or full is logged once, and raises nothing.
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
        """Say it now; the first time, forget processes that died."""
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
                dead_since = time.time() - 2 * _ALIVE_FOR_SECONDS
                dead = [name for name, said in fields.items() if _read(name, said)[0] < dead_since]
                if dead:
                    self._client.hdel(self._kind, *dead)
            with self._client.pipeline(transaction=False) as pipeline:
                pipeline.hset(self._kind, self._name, json.dumps(sign))
                # The whole hash expires when nobody writes any more.
                pipeline.expire(self._kind, int(4 * _ALIVE_FOR_SECONDS))
                pipeline.execute()
        except (RedisError, OSError) as error:
            QUEUE_NOTICE.away(error)
        else:
            self._is_first = False
            QUEUE_NOTICE.back()

    def stop(self) -> None:
        """Say that this process takes no more work."""
        with contextlib.suppress(RedisError, OSError):
            self._client.hdel(self._kind, self._name)


def _read(name: str, value: str) -> tuple[float, WorkerSign]:
    """Return when a sign was given and what it says; what is none of ours was given in 1970."""
    try:
        sign = json.loads(value)
        return float(sign["at"]), WorkerSign(
            name=name,
            model_version=sign["model"],
            model_problem=sign["problem"],
            judged_at=float(sign["judged_at"]),
            # A process of the version before says nothing of it.
            retrains=bool(sign.get("retrains")),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return 0.0, WorkerSign(name=name)
