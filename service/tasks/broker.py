"""Says how kombu reaches Valkey: its form of the URL, its keys, its time limits."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

# Longer than any batch takes and than its retries last (tests hold the two together), short enough
# that a comment whose worker was killed comes back while its site still remembers it.
VISIBILITY_TIMEOUT_SECONDS = 120

_KEYS = {
    "unacked_key": "slopsieve.unacked",
    "unacked_index_key": "slopsieve.unacked_index",
    "unacked_mutex_key": "slopsieve.unacked_mutex",
}

_SHARED: Mapping[str, object] = {
    **_KEYS,
    "visibility_timeout": VISIBILITY_TIMEOUT_SECONDS,
    # One list a queue: lanes are queues of their own, so kombu's priority lists would stay empty.
    "priority_steps": [0],
    "socket_keepalive": True,
}

# A request waits for its publish, so a broker that is away or hangs must be noticed within the
# two seconds that `ScoringQueue.put` promises: one to connect, one for the answer.
PRODUCER_OPTIONS: Mapping[str, object] = {
    **_SHARED,
    "socket_connect_timeout": 1.0,
    "socket_timeout": 1.0,
}

# "priority" keeps the order in which queues are named, so that the interactive lane always goes
# first. The look for abandoned messages runs every 10 s (kombu's default: every 100 s).
# A blocking pop lasts one second, so the socket may be silent for longer than that.
CONSUMER_OPTIONS: Mapping[str, object] = {
    **_SHARED,
    "queue_order_strategy": "priority",
    "unacked_restore_interval": 10,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 3.0,
    "socket_timeout": 10.0,
}


def open_client(valkey_url: str) -> redis.Redis:
    """Return a client that answers or fails within two seconds; nothing is opened yet."""
    return redis.Redis.from_url(
        valkey_url,
        decode_responses=True,
        socket_connect_timeout=1.0,
        socket_timeout=1.0,
        retry=Retry(NoBackoff(), 0),
    )


def kombu_url(valkey_url: str) -> str:
    """Return kombu's form of a redis-py URL; only Unix sockets are written otherwise there."""
    parts = urlsplit(valkey_url)
    if parts.scheme != "unix":
        return valkey_url
    query = dict(parse_qsl(parts.query))
    credentials = ""
    if parts.password is not None:
        user = quote(unquote(parts.username or ""), safe="")
        credentials = f"{user}:{quote(unquote(parts.password), safe='')}@"
    database = urlencode({"virtual_host": query.get("db", "0")})
    return f"redis+socket://{credentials}{parts.path}?{database}"
