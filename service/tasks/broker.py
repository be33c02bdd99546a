"""Valkey as the broker: names, connections and error messages."""

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.domain.comment import Lane
from service.domain.errors import StoreFullError, StoreUnavailableError

log = logging.getLogger(__name__)


# The lists in Valkey that hold messages; the prefix lets others share the server. In the order of
# consumption: the bulk lane moves while the interactive lane is empty.
LANE_QUEUES: Mapping[Lane, str] = {lane: f"slopsieve.{lane.value}" for lane in Lane}
# A Celery worker needs a queue of tasks; nothing is sent to it.
TASKS_QUEUE = "slopsieve.upkeep"

# The only field of a scoring message.
COMMENT_ID_FIELD = "comment_id"

# Longer than any batch with its retries takes (a test compares them), short enough that a killed
# worker's comments are redelivered soon.
VISIBILITY_TIMEOUT_SECONDS = 120

# "priority" keeps the order of queues, so that the interactive lane is first. Abandoned messages
# are looked for every 10 s instead of every 100 s. A blocking pop lasts one second, so the socket
# timeout must be longer.
CONSUMER_OPTIONS: Mapping[str, object] = {
    "unacked_key": "slopsieve.unacked",
    "unacked_index_key": "slopsieve.unacked_index",
    "unacked_mutex_key": "slopsieve.unacked_mutex",
    "visibility_timeout": VISIBILITY_TIMEOUT_SECONDS,
    # One list per queue: lanes are separate queues, so kombu's priority lists would stay empty.
    "priority_steps": [0],
    "socket_keepalive": True,
    "queue_order_strategy": "priority",
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 3.0,
    "socket_timeout": 10.0,
}

_MEMORY_FULL = "its memory is full"
_DISK_FULL = "its disk takes no writes"


def open_client(valkey_url: str, *, answer_seconds: float = 1.0) -> redis.Redis:
    """Return a client that connects within a second, or fails; it connects lazily."""
    return redis.Redis.from_url(
        valkey_url,
        decode_responses=True,
        socket_connect_timeout=1.0,
        socket_timeout=answer_seconds,
        retry=Retry(NoBackoff(), 0),
    )


@contextmanager
def queue_errors() -> Iterator[None]:
    """Raise `StoreUnavailableError` if a command to Valkey fails."""
    try:
        yield
    except (redis.RedisError, OSError) as error:
        why = why_unusable(error)
        kind = StoreFullError if why in (_MEMORY_FULL, _DISK_FULL) else StoreUnavailableError
        raise kind(f"the queue cannot be used now: {why}") from error


def prove_write(client: redis.Redis) -> None:
    """Write a key that expires, because a full server answers reads but refuses writes.

    Raises `StoreUnavailableError`.
    """
    with queue_errors():
        client.set("slopsieve.write_probe", "", ex=60)


def causes(error: object) -> Iterator[BaseException]:
    """Yield an error and its causes, the root cause last."""
    while isinstance(error, BaseException):
        yield error
        error = error.__cause__ or error.__context__


def is_of_valkey(error: BaseException) -> bool:
    """Return True if an error is the server's or the connection's."""
    return isinstance(error, redis.RedisError | OSError)


def why_unusable(error: BaseException) -> str:
    """Return why Valkey is unusable, in fixed words: its message may contain addresses or text."""
    error = next(filter(is_of_valkey, causes(error)), error)
    if isinstance(error, redis.OutOfMemoryError):
        return _MEMORY_FULL
    # It may be nested in the error of a transaction or script.
    if isinstance(error, redis.ResponseError) and "MISCONF" in str(error):
        return _DISK_FULL
    if isinstance(error, redis.ReadOnlyError):
        return "it is a replica and takes no writes"
    if isinstance(error, redis.BusyLoadingError):
        return "it is loading its data"
    if isinstance(error, redis.AuthenticationError):
        return "it refuses this user or password"
    if isinstance(error, OSError | redis.ConnectionError | redis.TimeoutError):
        return "it does not answer"
    return type(error).__name__


def kombu_url(valkey_url: str) -> str:
    """Return kombu's form of a redis-py URL; only Unix sockets differ."""
    parts = urlsplit(valkey_url)
    if parts.scheme != "unix":
        return valkey_url
    credentials = ""
    if parts.password is not None:
        user = quote(unquote(parts.username or ""), safe="")
        credentials = f"{user}:{quote(unquote(parts.password), safe='')}@"
    database = urlencode({"virtual_host": dict(parse_qsl(parts.query)).get("db", "0")})
    return f"redis+socket://{credentials}{parts.path}?{database}"


class QueueNotice(logging.Filter):
    """Logs one line when the queue is lost and one when it is back; thread-safe.

    As a filter on Celery's loggers it treats a line about the lost queue as the sign of the loss.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._is_away = False

    def away(self, error: BaseException) -> None:
        with self._lock:
            was_away, self._is_away = self._is_away, True
        if not was_away:
            log.warning(
                "the queue cannot be used, comments are kept and judged later",
                extra={"reason": why_unusable(error)},
            )

    def back(self) -> None:
        with self._lock:
            was_away, self._is_away = self._is_away, False
        if was_away:
            log.info("the queue can be used again")

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for Celery's lines while the queue is unusable."""
        given = record.args if isinstance(record.args, tuple) else ()
        raised = record.exc_info[1] if record.exc_info else None
        errors = (one for error in (raised, *given) for one in causes(error))
        lost = next(filter(is_of_valkey, errors), None)
        if lost is not None:
            self.away(lost)
        return not self._is_away


QUEUE_NOTICE = QueueNotice()
"""The notice for this process's only queue."""
