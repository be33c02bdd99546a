"""Keeps history in Valkey or Redis, counted by keyed hashes of the sender."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.domain.comment import Comment
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.history import History, Record
from service.stores.history_keys import DomainsOf, history_from, history_keys, no_domains

_T = TypeVar("_T")

# A batch that waits longer is judged without history, degraded; better that than a stuck worker.
_TIMEOUT_SECONDS = 0.25

# Addresses change hands: what was last seen half a year ago says nothing about who sends now.
_KEPT_SECONDS = int(timedelta(days=180).total_seconds())

_APPROVED, _REJECTED = "a", "r"
_FIELD = {Ruling.APPROVE: _APPROVED, Ruling.REJECT: _REJECTED}

# KEYS: the decision's marker, then its tallies. ARGV: the field to count in, seconds to keep.
# The marker says in which field the decision counts, or "u" once it was taken back: a delayed
# repeat of `learn` must not bring an undone decision back.
_LEARN = """
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'EX', ARGV[2]) then return 0 end
for i = 2, #KEYS do
    redis.call('HINCRBY', KEYS[i], ARGV[1], 1)
    redis.call('EXPIRE', KEYS[i], ARGV[2])
end
return 1
"""

# KEYS as above. ARGV: seconds to keep. A tally that expired meanwhile must not become negative.
_UNLEARN = """
local counted = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], 'u', 'EX', ARGV[1])
if not counted or counted == 'u' then return 0 end
for i = 2, #KEYS do
    if redis.call('HINCRBY', KEYS[i], counted, -1) <= 0 then
        redis.call('HDEL', KEYS[i], counted)
    end
end
return 1
"""


class ValkeyHistoryStore:
    """Counts decisions by sender in Valkey or Redis 7 and later; see `HistoryStore`.

    Every call is one round trip. `domains_of` names the registered domains a comment links to.
    Nothing is opened before the first call.
    """

    def __init__(
        self, url: str, *, domains_of: DomainsOf = no_domains, prefix: str = "slopsieve"
    ) -> None:
        # One more try at once, for a connection that broke while it lay in the pool; what timed
        # out is not tried again, a second wait would double what a batch waits.
        self._client = redis.Redis.from_url(
            url,
            socket_timeout=_TIMEOUT_SECONDS,
            socket_connect_timeout=_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
        )
        self._domains_of = domains_of
        # The braces keep all keys on one node of a cluster, where scripts and pipelines need them.
        self._prefix = f"{prefix}:{{history}}:"
        self._learn = self._client.register_script(_LEARN)
        self._unlearn = self._client.register_script(_UNLEARN)

    def gather(self, comments: Sequence[Comment], *, now) -> list[History]:
        """See `HistoryStore.gather`."""
        keys = [history_keys(comment, self._domains_of) for comment in comments]
        wanted = list(dict.fromkeys(name for one in keys for name in one.all()))
        if not wanted:
            return [History() for _ in comments]
        pipeline = self._client.pipeline(transaction=False)
        for name in wanted:
            pipeline.hmget(self._prefix + name, [_APPROVED, _REJECTED])
        answers = _asked(pipeline.execute)
        tallies = {name: _tally(answer) for name, answer in zip(wanted, answers, strict=True)}
        return [history_from(one, tallies.__getitem__) for one in keys]

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at) -> bool:
        """See `HistoryStore.learn`."""
        keys = self._keys(decision_id, comment)
        args: list[str | int] = [_FIELD[ruling], _KEPT_SECONDS]
        return bool(_asked(lambda: self._learn(keys=keys, args=args)))

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at) -> bool:
        """See `HistoryStore.unlearn`."""
        keys = self._keys(decision_id, comment)
        return bool(_asked(lambda: self._unlearn(keys=keys, args=[_KEPT_SECONDS])))

    def forget(self, sender):
        _asked(lambda: self._client.delete(*[self._prefix + f"{p}:{k}" for p in ("address","email") for k in (sender.address_key, sender.email_key)]))

    def is_blank(self):
        return not _asked(lambda: self._client.exists(self._prefix + "filled"))

    def mark_filled(self):
        _asked(lambda: self._client.set(self._prefix + "filled", "1"))

    def ping(self) -> None:
        """Return if the server answers. Raise `StoreUnavailableError` if not."""
        _asked(self._client.ping)

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        self._client.close()

    def _keys(self, decision_id: str, comment: Comment) -> list[str]:
        tallies = history_keys(comment, self._domains_of).all()
        names = (f"decision:{decision_id}", *tallies)
        return [self._prefix + name for name in names]


def _asked(question: Callable[[], _T]) -> _T:
    try:
        return question()
    except redis.RedisError as error:
        # The message may name the server's address or user, so only the kind of failure is told.
        msg = f"the history store cannot be used now: {type(error).__name__}"
        raise StoreUnavailableError(msg) from error


def _tally(answer: Sequence[Any]) -> Record:
    approved, rejected = (int(value) if value is not None else 0 for value in answer)
    return Record(approved=approved, rejected=rejected)
