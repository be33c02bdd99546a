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
from celery import Celery, bootsteps
from redis.exceptions import RedisError

from service.tasks.broker import unavailable
from service.tasks.queue_notice import QUEUE_NOTICE

# Who gives signs: those who judge, those who tell sites, those who retrain, the one who schedules.
WORKERS = "slopsieve.workers"
DISPATCHERS = "slopsieve.couriers"
TRAINERS = "slopsieve.trainers"
BEATS = "slopsieve.beats"
INTERVAL_SECONDS = 2.0
# A worker is silent while it judges a batch; the slowest plausible batch takes some seconds.
_ALIVE_FOR_SECONDS = 15.0
# What the queue lost is judged half a minute later, what met a store that was away likewise.
STUCK_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSign:
    """One living worker; `model_problem` says in one line why it has no model, if so.

    `judged_at` is when it last stored a verdict, or began, in seconds since 1970.
    """

    name: str
    model_version: str
    model_problem: str | None = None
    judged_at: float = 0.0


def live_workers(client: redis.Redis, kind: str = WORKERS) -> list[WorkerSign]:
    """Return the workers of a kind heard of lately. Raise `StoreUnavailableError`."""
    try:
        fields: Any = client.hgetall(kind)
    except (RedisError, OSError) as error:
        raise unavailable("the queue", error) from error
    return [
        WorkerSign(
            name=name,
            model_version=sign["model"],
            model_problem=sign["problem"],
            judged_at=sign["judged_at"],
        )
        for name, value in fields.items()
        if time.time() - (sign := _read(value))["at"] < _ALIVE_FOR_SECONDS
    ]


def are_stuck(workers: Sequence[WorkerSign], *, oldest: datetime | None, now: datetime) -> bool:
    """Say whether workers live, a comment waits, and none stored a verdict for `STUCK_SECONDS`.

    Whatever keeps them from it. `oldest` is when the comment came in that waits longest.
    """
    long_ago = now - timedelta(seconds=STUCK_SECONDS)
    if not workers or oldest is None or oldest > long_ago:
        return False
    return all(sign.judged_at < long_ago.timestamp() for sign in workers)


def own_name() -> str:
    """Return what this process signs with: its host, which a probe looks for, and its number."""
    return f"{socket.gethostname()}:{os.getpid()}"


class Signs:
    """Gives one process's signs of life; `model` returns its version and problem.

    `judged_at` returns when it last stored a verdict, or began.

    Valkey being away or full is told once, and stops nobody.
    """

    def __init__(
        self,
        client: redis.Redis,
        kind: str,
        name: str,
        model: Callable[[], tuple[str, str | None]] = lambda: ("", None),
        judged_at: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._client = client
        self._kind = kind
        self._name = name
        self._model = model
        self._judged_at = judged_at

    def give(self) -> None:
        """Give a sign now."""
        version, problem = self._model()
        value = json.dumps(
            {
                "at": time.time(),
                "model": version,
                "problem": problem,
                "judged_at": self._judged_at(),
            }
        )
        try:
            _write(self._client, self._kind, self._name, value)
        except (RedisError, OSError) as error:
            QUEUE_NOTICE.away(error)
        else:
            QUEUE_NOTICE.back()

    def take_back(self) -> None:
        """Take the sign back: this process takes no more work."""
        with contextlib.suppress(RedisError, OSError):
            self._client.hdel(self._kind, self._name)


def register_heartbeat(app: Celery, signs: Signs) -> None:
    """Let this app's worker give signs while it works."""

    class HeartbeatStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery ships no types
        """Beats in the event loop that judges, so that a stuck worker falls silent."""

        requires = ("celery.worker.consumer:Connection",)

        def start(self, parent: Any) -> None:
            """Give the first sign at once, then go on."""
            signs.give()
            parent.timer.call_repeatedly(INTERVAL_SECONDS, signs.give)

        def stop(self, parent: Any) -> None:
            """Take the sign back: this worker takes no more work."""
            signs.take_back()

    app.steps["consumer"].add(HeartbeatStep)


def _write(client: redis.Redis, kind: str, name: str, value: str) -> None:
    """Write one sign; the whole table expires when nobody writes any more."""
    stale = [other for other, seen in _table(client, kind).items() if _is_stale(seen)]
    with client.pipeline(transaction=False) as pipeline:
        pipeline.hset(kind, name, value)
        if stale:
            pipeline.hdel(kind, *stale)
        pipeline.expire(kind, int(4 * _ALIVE_FOR_SECONDS))
        pipeline.execute()


def _table(client: redis.Redis, kind: str) -> dict[str, str]:
    table: Any = client.hgetall(kind)
    return dict(table)


def _is_stale(value: str) -> bool:
    given_at: float = _read(value)["at"]
    return time.time() - given_at > 2 * _ALIVE_FOR_SECONDS


def _read(value: str) -> dict[str, Any]:
    """Return what a sign says; what is none of ours was given in 1970."""
    try:
        sign = json.loads(value)
        return {
            "at": float(sign["at"]),
            "model": sign["model"],
            "problem": sign["problem"],
            # A worker of an earlier version, during an upgrade, does not say.
            "judged_at": float(sign.get("judged_at", sign["at"])),
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {"at": 0.0, "model": "", "problem": None, "judged_at": 0.0}
