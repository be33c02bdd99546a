"""Queues ids for the workers and wakes the background process, through Valkey."""

import base64
import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import redis
from redis.exceptions import RedisError

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError
from service.tasks import broker
from service.tasks.heartbeat import BACKGROUND, live_workers

# 1,000 ids take 48 ms in two portions, 270 ms one by one.
_MESSAGES_AT_ONCE = 500
# For this long after a failure calls fail at once, so that threads do not all wait.
_FAIL_FAST_SECONDS = 1.0


@dataclass(eq=False)
class ValkeyScoringQueue:
    """Publishes one message per id; see `ScoringQueue`. Thread-safe."""

    client: redis.Redis
    away_until: float = field(default=0.0, init=False)

    def put(self, ids: Sequence[CommentId], lane: Lane) -> None:
        if time.monotonic() < self.away_until:
            raise StoreUnavailableError("the queue was away a moment ago")
        queue = broker.LANE_QUEUES[lane]
        try:
            with broker.queue_errors():
                for first in range(0, len(ids), _MESSAGES_AT_ONCE):
                    portion = ids[first : first + _MESSAGES_AT_ONCE]
                    self.client.lpush(queue, *(_message(one, queue) for one in portion))
        except StoreUnavailableError as error:
            self.away_until = time.monotonic() + _FAIL_FAST_SECONDS
            broker.QUEUE_NOTICE.away(error)
            raise
        broker.QUEUE_NOTICE.back()

    def depth(self) -> Mapping[Lane, int]:
        with broker.queue_errors(), self.client.pipeline(transaction=False) as pipeline:
            for queue in broker.LANE_QUEUES.values():
                pipeline.llen(queue)
            return dict(zip(broker.LANE_QUEUES, pipeline.execute(), strict=True))


def _message(comment_id: CommentId, queue: str) -> str:
    """Return a message in kombu's format, without importing kombu, which is slow to load."""
    body = json.dumps({broker.COMMENT_ID_FIELD: comment_id}).encode()
    return json.dumps(
        {
            "body": base64.b64encode(body).decode(),
            "content-encoding": "utf-8",
            "content-type": "application/json",
            "headers": {},
            "properties": {
                "delivery_mode": 2,
                "delivery_info": {"exchange": "", "routing_key": queue},
                "priority": 0,
                "body_encoding": "base64",
                "delivery_tag": str(uuid.uuid4()),
            },
        }
    )


# The time after which a silently broken connection is noticed.
_LISTEN_SECONDS = 30


class Wake(StrEnum):
    """Reasons to wake the background process; each is the list in Valkey that it listens to."""

    DELIVER = "slopsieve.callbacks"
    RETRAIN = "slopsieve.retrain"


@dataclass(frozen=True)
class ValkeyWaker:
    """Wakes the background process; see `Waker`. Thread-safe.

    The work is in the database; a lost message only delays it.
    """

    client: redis.Redis
    reason: Wake

    def wake(self) -> None:
        with broker.queue_errors(), self.client.pipeline(transaction=False) as pipeline:
            # One message is enough; they must not accumulate while no process listens.
            pipeline.rpush(self.reason.value, "")
            pipeline.ltrim(self.reason.value, 0, 0)
            pipeline.expire(self.reason.value, 600)
            pipeline.execute()

    def has_listener(self) -> bool:
        return any(sign.retrains for sign in live_workers(self.client, BACKGROUND))


def listen_for_ever(valkey_url: str, woken: Callable[[Wake], object]) -> None:
    """Call `woken` for each message and reconnect after errors; run it in a daemon thread."""
    client = broker.open_client(valkey_url, answer_seconds=_LISTEN_SECONDS + 5.0)
    while True:
        try:
            found: Any = client.blpop(list(Wake), timeout=_LISTEN_SECONDS)
        except (RedisError, OSError):
            time.sleep(2.0)
        else:
            if found:
                woken(Wake(found[0]))
