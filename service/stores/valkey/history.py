"""Keeps history in Valkey or Redis, counted by keyed hashes of the sender."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import redis

from service.domain.comment import Comment, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError
from service.domain.history import History
from service.reputation.decay import Counter
from service.reputation.gathering import gather_histories
from service.reputation.names import CommentNames, at_site, names_of, names_of_person
from service.stores.valkey.client import ValkeyClient
from service.stores.valkey.history_scripts import (
    GATHER,
    LEARN,
    UNLEARN,
    Arg,
    gather_args,
    learn_args,
)

# A batch that waits longer is judged without history, degraded; better that than a stuck worker.
_TIMEOUT_SECONDS = 0.25


class ValkeyHistoryStore:
    """Counts decisions and sightings in Valkey or Redis 7 and later; see `HistoryStore`.

    Gathering, learning and taking back are one round trip each. Nothing is opened before the first
    call. With `cluster` the URL names any node of a cluster.
    """

    def __init__(self, url: str, *, prefix: str = "slopsieve", cluster: bool = False) -> None:
        self._client = ValkeyClient(
            url, cluster=cluster, timeout_seconds=_TIMEOUT_SECONDS, what="the history store"
        )
        # The braces keep all keys on one node of a cluster, where a script needs them.
        self._prefix = f"{prefix}:{{reputation}}:"

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        """See `HistoryStore.gather`."""
        batch = [names_of(comment) for comment in comments]
        wanted = list(dict.fromkeys(name for names in batch for name in names.read()))
        watched = list(dict.fromkeys(name for names in batch for name in names.watched()))
        if not wanted:
            return [History() for _ in comments]
        keys = [
            self._key("sites"),
            *(self._key(f"seen:{comment.id}") for comment in comments),
            *(self._key(f"d:{name}") for name in wanted),
            *(self._key(f"s:{name}") for name in watched),
            self._key("filled"),
        ]
        args = [*gather_args(batch, wanted, watched, now=now), int(only_filled)]
        answers = self._client.ask(lambda client: _run(client, GATHER, keys, args))
        if answers is None:
            raise HistoryBlankError("the history store lost what it knew, or was never filled")
        seen, decisions, sightings = (answer.decode().split("\n") for answer in answers)
        counters = {
            name: Counter(decisions=_counts(line))
            for name, line in zip(wanted, decisions, strict=True)
        }
        # Without a name to watch the text is empty, which split() takes for one line.
        for name, line in zip(watched, sightings, strict=bool(watched)):
            counters[name].sightings = _counts(line)
        own = [datetime.fromtimestamp(int(at), UTC) if at else None for at in seen]
        return gather_histories(batch, counters, seen_before=own, now=now)

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """See `HistoryStore.learn`."""
        names = names_of(comment)
        keys = self._decision_keys(decision_id, names)
        args = learn_args(names, ruling, at=at)
        return bool(self._client.ask(lambda client: _run(client, LEARN, keys, args)))

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """See `HistoryStore.unlearn`."""
        names = names_of(comment)
        keys = self._decision_keys(decision_id, names)
        args = learn_args(names, ruling, at=at)
        return bool(self._client.ask(lambda client: _run(client, UNLEARN, keys, args)))

    def forget(self, sender: Sender) -> None:
        """See `HistoryStore.forget`."""
        names = names_of_person(sender)
        if names:
            self._client.ask(lambda client: self._forget(client, names))

    def is_blank(self) -> bool:
        """See `HistoryStore.is_blank`."""
        return not self._client.ask(lambda client: client.exists(self._key("filled")))

    def mark_filled(self) -> None:
        """See `HistoryStore.mark_filled`."""
        self._client.ask(lambda client: client.set(self._key("filled"), 1))

    def ping(self) -> None:
        """Return if the server answers. Raise `StoreUnavailableError` if not."""
        self._client.ask(lambda client: client.ping())

    def close(self) -> None:
        """Close all connections; a later call opens new ones."""
        self._client.close()

    def _forget(self, client: redis.Redis, names: Sequence[str]) -> None:
        known: set[Any] = client.smembers(self._key("sites"))
        sites = [SiteId(site.decode()) for site in known]
        everywhere = [*names, *(at_site(name, site) for name in names for site in sites)]
        for start in range(0, len(everywhere), 500):
            some = everywhere[start : start + 500]
            client.unlink(*(self._key(f"{part}:{name}") for name in some for part in "ds"))

    def _decision_keys(self, decision_id: str, names: CommentNames) -> list[str]:
        counters = (self._key(f"d:{name}") for _kind, name in names.written())
        return [self._key(f"decision:{decision_id}"), self._key("sites"), *counters]

    def _key(self, name: str) -> str:
        return self._prefix + name


def _run(client: redis.Redis, script: str, keys: Sequence[str], args: Sequence[Arg]) -> Any:
    try:
        digest = hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
        return client.evalsha(digest, len(keys), *keys, *args)
    except redis.exceptions.NoScriptError:
        return client.eval(script, len(keys), *keys, *args)


def _counts(line: str) -> dict[str, int]:
    parts = line.split()
    return dict(zip(parts[::2], map(int, parts[1::2]), strict=True))
