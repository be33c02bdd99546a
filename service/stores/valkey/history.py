"""Keeps history in Valkey or Redis, counted by keyed hashes of the sender."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar, cast

import redis

from service.domain.comment import Comment, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.errors import HistoryBlankError
from service.domain.history import Conduct, History
from service.reputation.conduct import conduct_from, steps_of
from service.reputation.decay import Counter
from service.reputation.gathering import gather_histories
from service.reputation.names import (
    CommentNames,
    all_names_of_account,
    at_site,
    names_of,
    names_of_accounts,
    names_of_person,
    owners_of,
)
from service.stores.valkey.breaker import Circuit
from service.stores.valkey.client import ValkeyStore
from service.stores.valkey.history_scripts import (
    GATHER,
    LEARN,
    UNLEARN,
    Arg,
    Asked,
    gather_args,
    learn_args,
    touched_by,
)

_T = TypeVar("_T")

# The second of their kind: the first did not tell decisions on offers apart. What lies under the
# first expires, and is forgotten with the rest till then.
_DECISIONS, _COUNTED, _FILLED = "d2", "decision2", "filled2"
_SIGHTINGS, _CONDUCT, _OWNED = "s", "c", "o"
_ALL = (_DECISIONS, "d", _SIGHTINGS, _CONDUCT, _OWNED)


class ValkeyHistoryStore(ValkeyStore):
    """Remembers decisions, and sightings apart from them. Only decisions teach it.

    It counts in Valkey or Redis 7 and later. Gathering, learning and taking back are one round trip
    each. Nothing is opened before the first call. With `cluster` the URL names any node of a
    cluster.

    Calls pass one of two circuits. A store that is full answers questions and learns nothing: what
    fails there must not keep verdicts from their evidence.
    """

    what = "the history store"
    # A batch that waits longer is judged without history, degraded: better than a stuck worker.
    timeout_seconds = 0.25

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "slopsieve",
        cluster: bool = False,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(url, prefix=prefix, cluster=cluster)
        self.reading = Circuit("reading", monotonic=monotonic)
        self.teaching = Circuit("teaching", monotonic=monotonic)

    def gather(
        self, comments: Sequence[Comment], *, now: datetime, only_filled: bool = False
    ) -> list[History]:
        """Return the history of each comment, in order, in one round trip for all.

        The first time a comment's id is gathered it is counted as seen at `now`. The earlier
        comments of a batch are seen by the later ones; no comment is its own earlier sighting,
        however often it is gathered. What its account did counts the same way. A store
        that takes no writes now, or is nearly full, gathers
        all the same and counts no sighting. With `only_filled` raise `HistoryBlankError` while
        `is_blank`.
        """
        batch = [_asked(comment, now) for comment in comments]
        touched = touched_by(batch)
        wanted, watched, accounts, owners = touched
        if not wanted:
            return [History() for _ in comments]
        keys = [
            self._key("sites"),
            *(self._key(f"seen:{comment.id}") for comment in comments),
            *(self._key(f"{_DECISIONS}:{name}") for name in wanted),
            *(self._key(f"{_SIGHTINGS}:{name}") for name in watched),
            *(self._key(f"{_CONDUCT}:{name}") for name in accounts),
            *(self._key(f"{_OWNED}:{name}") for name in owners),
            self._key(_FILLED),
        ]
        args = gather_args(batch, touched, now=now, only_filled=only_filled)
        answers = self._through(self.reading, lambda client: _run(client, GATHER, keys, args))
        if answers is None:
            raise HistoryBlankError("the history store lost what it knew, or was never filled")
        seen, decisions, sightings, kept = (answer.decode().split("\n") for answer in answers)
        counters = {
            name: Counter(decisions=_counts(line))
            for name, line in zip(wanted, decisions, strict=True)
        }
        # Without a name to watch the text is empty, which split() takes for one line.
        for name, line in zip(watched, sightings, strict=bool(watched)):
            counters.setdefault(name, Counter()).sightings = _counts(line)
        own = [datetime.fromtimestamp(int(at), UTC) if at else None for at in seen]
        return gather_histories(
            [asked.names for asked in batch],
            counters,
            seen_before=own,
            now=now,
            steps=[asked.steps for asked in batch],
            conducts={
                name: _counts(line) for name, line in zip(accounts, kept, strict=bool(accounts))
            },
        )

    def learn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Count a decision made at `at` once; a repeat of the same `decision_id` changes nothing.

        The order in which decisions are learnt never matters. Return whether it was counted now.
        """
        return self._count(LEARN, decision_id, names_of(comment), ruling, at)

    def unlearn(self, decision_id: str, comment: Comment, ruling: Ruling, *, at: datetime) -> bool:
        """Take a counted decision back exactly; harmless if it is not counted.

        What is taken back is the ruling and the moment that were learnt. It is never counted
        again afterwards, so a delayed repeat of `learn` does no harm. Return whether it was taken
        back now.
        """
        return self._count(UNLEARN, decision_id, names_of(comment), ruling, at)

    def forget(self, sender: Sender) -> None:
        """Drop the records of this address, e-mail, name and account at all sites, older keys' too.

        With them go the accounts that comments with this e-mail or name came from. Networks,
        systems and domains stay: they are others' too.
        """
        names = names_of_person(sender)
        if names:
            self._through(self.teaching, lambda client: self._forget(client, sender, names))

    def conducts(self, sender: Sender, *, now: datetime) -> Mapping[str, Conduct]:
        """Return the conduct of the accounts that `forget` would drop, by account name."""
        return self._through(self.reading, lambda client: self._conducts(client, sender, now))

    def is_blank(self) -> bool:
        """Return True if the store is new or was wiped: `mark_filled` was never called."""
        return not self._ask(lambda client: client.exists(self._key(_FILLED)))

    def mark_filled(self) -> None:
        """Remember, for as long as anything is kept, that all past decisions have been learnt."""
        self._ask(lambda client: client.set(self._key(_FILLED), 1))

    def ping(self) -> None:
        """Return if the server answers. Raise `StoreUnavailableError` if not."""
        self._ask(lambda client: client.ping())

    def _conducts(
        self, client: redis.Redis, sender: Sender, now: datetime
    ) -> Mapping[str, Conduct]:
        found = {}
        for name in sorted(self._accounts_of(client, sender)):
            fields: dict[Any, Any] = client.hgetall(self._key(f"{_CONDUCT}:{name}"))
            counted = {field.decode(): int(value) for field, value in fields.items()}
            conduct = conduct_from([counted], now=now)
            if conduct is not None:
                found[name] = conduct
        return found

    def _accounts_of(self, client: redis.Redis, sender: Sender) -> set[str]:
        """Return the names of the accounts that are this person's."""
        owners = [owner for one in sender.generations for owner in owners_of(one)]
        start = len(self._key(f"{_CONDUCT}:"))
        found = {
            key.decode()[start:]
            for owner in owners
            for key in cast("set[bytes]", client.smembers(self._key(f"{_OWNED}:{owner}")))
        }
        return found.union(names_of_accounts(sender))

    def _forget(self, client: redis.Redis, sender: Sender, names: Sequence[str]) -> None:
        accounts = self._accounts_of(client, sender)
        names = [*names, *(name for one in accounts for name in all_names_of_account(one))]
        known: set[Any] = client.smembers(self._key("sites"))
        sites = [SiteId(site.decode()) for site in known]
        everywhere = [*names, *(at_site(name, site) for name in names for site in sites)]
        for start in range(0, len(everywhere), 500):
            some = everywhere[start : start + 500]
            client.unlink(*(self._key(f"{part}:{name}") for name in some for part in _ALL))

    def _count(
        self, script: str, decision_id: str, names: CommentNames, ruling: Ruling, at: datetime
    ) -> bool:
        counters = (self._key(f"{_DECISIONS}:{name}") for _kind, name in names.written())
        keys = [self._key(f"{_COUNTED}:{decision_id}"), self._key("sites"), *counters]
        args = learn_args(names, ruling, at=at)
        counted = self._through(self.teaching, lambda client: _run(client, script, keys, args))
        return bool(counted)

    def _through(self, circuit: Circuit, question: Callable[[redis.Redis], _T]) -> _T:
        return circuit.call(lambda: self._ask(question))

    def _key(self, name: str) -> str:
        # The braces keep all keys on one node of a cluster, where a script needs them.
        return f"{self._prefix}:{{reputation}}:{name}"


def _asked(comment: Comment, now: datetime) -> Asked:
    names = names_of(comment)
    if not names.accounts():
        return Asked(names, None, ())
    return Asked(names, steps_of(comment, now=now), owners_of(comment.sender))


def _run(client: redis.Redis, script: str, keys: Sequence[str], args: Sequence[Arg]) -> Any:
    try:
        digest = hashlib.sha1(script.encode(), usedforsecurity=False).hexdigest()
        return client.evalsha(digest, len(keys), *keys, *args)
    except redis.exceptions.NoScriptError:
        return client.eval(script, len(keys), *keys, *args)


def _counts(line: str) -> dict[str, int]:
    parts = line.split()
    return dict(zip(parts[::2], map(int, parts[1::2]), strict=True))
