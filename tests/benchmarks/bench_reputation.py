"""Measures the reputation memory: gathering and learning a batch, and its size in Valkey."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random

import redis

from service.domain.comment import Comment, CommentId, Sender
from service.domain.dataset_row import comment_from_row
from service.domain.decision import Ruling
from service.reputation.decay import decision_field, sighting_fields
from service.reputation.names import CommentNames, names_of
from service.stores.valkey.history import ValkeyHistoryStore
from tests.factories import NOW, make_comment
from tests.servers import running_valkey

DATA = Path(__file__).parents[2] / "data"
_BATCH = 64
_ROUNDS = 100
_ADDRESSES = 100_000
_SECONDS_KEPT = 3_600


def _comments(seed: int) -> Iterator[Comment]:
    """Yield the authored texts again and again, each from somebody of a town of 20,000."""
    random = Random(seed)
    rows = [
        comment_from_row(json.loads(line))
        for path in sorted(DATA.glob("authored-*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    number = 0
    while True:
        random.shuffle(rows)
        for row in rows:
            number += 1
            person = random.randrange(20_000)
            sender = Sender(
                address_key=f"{person:032x}",
                network_key=f"{person // 50:032x}",
                wide_network_key=f"{person // 500:032x}",
                system=person // 1_000,
                email_key=f"{person // 2:032x}",
                email_domain=f"mail-{person // 100}.example",
                name_key=f"{person // 3:032x}",
            )
            yield replace(row, id=CommentId(f"{seed}-{number}"), sender=sender)


class _CallByCall:
    """The naive way: each counter is asked for, and each count made, by a call of its own."""

    def __init__(self, client: redis.Redis, prefix: str) -> None:
        self._client, self._prefix = client, prefix

    def gather(self, batch: list[Comment]) -> None:
        for comment in batch:
            names = names_of(comment)
            for name in names.read():
                self._client.hgetall(f"{self._prefix}d:{name}")
            for name in names.watched():
                self._client.hgetall(f"{self._prefix}s:{name}")
            if self._client.set(f"{self._prefix}{comment.id}", 1, nx=True, ex=_SECONDS_KEPT):
                _count(self._client, self._prefix, names)

    def learn(self, batch: list[Comment]) -> None:
        for comment in batch:
            if self._client.set(f"{self._prefix}d{comment.id}", 1, nx=True, ex=_SECONDS_KEPT):
                for kind, name in names_of(comment).written():
                    field = decision_field(kind, Ruling.REJECT, NOW)
                    self._client.hincrby(f"{self._prefix}d:{name}", field, 1)
                    self._client.expire(f"{self._prefix}d:{name}", _SECONDS_KEPT)


class _Pipelined(_CallByCall):
    """All questions in one pipeline; what is to be counted is known then, and goes in a second."""

    def gather(self, batch: list[Comment]) -> None:
        every = [names_of(comment) for comment in batch]
        pipeline = self._client.pipeline(transaction=False)
        for comment in batch:
            pipeline.set(f"{self._prefix}{comment.id}", 1, nx=True, ex=_SECONDS_KEPT)
        for name in dict.fromkeys(name for names in every for name in names.read()):
            pipeline.hgetall(f"{self._prefix}d:{name}")
        for name in dict.fromkeys(name for names in every for name in names.watched()):
            pipeline.hgetall(f"{self._prefix}s:{name}")
        new = pipeline.execute()[: len(batch)]
        pipeline = self._client.pipeline(transaction=False)
        for names, is_new in zip(every, new, strict=True):
            if is_new:
                _count(pipeline, self._prefix, names)
        pipeline.execute()


def _count(client: redis.Redis, prefix: str, names: CommentNames) -> None:
    for name in names.sighted():
        for field in sighting_fields(NOW):
            client.hincrby(f"{prefix}s:{name}", field, 1)
        client.expire(f"{prefix}s:{name}", _SECONDS_KEPT)


def _percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def _print_times(url: str) -> None:
    client = redis.Redis.from_url(url)
    store = ValkeyHistoryStore(url, prefix="bench")
    naive, pipelined = _CallByCall(client, "n:"), _Pipelined(client, "p:")
    comments = _comments(1)
    times: dict[str, list[float]] = {}

    def took(what: str, act: Callable[[list[Comment]], object], batch: list[Comment]) -> None:
        start = time.perf_counter()
        act(batch)
        times.setdefault(what, []).append((time.perf_counter() - start) * 1_000)

    def learn(batch: list[Comment]) -> None:
        for comment in batch:
            store.learn(comment.id, comment, Ruling.REJECT, at=NOW)

    def unlearn(batch: list[Comment]) -> None:
        for comment in batch:
            store.unlearn(comment.id, comment, Ruling.REJECT, at=NOW)

    names = records = 0
    # Turn by turn, so that whatever else the machine does is shared by all ways.
    for _ in range(_ROUNDS):
        batch = [next(comments) for _ in range(_BATCH)]
        every = [list(names_of(comment).read()) for comment in batch]
        names += sum(map(len, every))
        records += len({name for some in every for name in some})
        took("name the records of 64", lambda some: [names_of(one) for one in some], batch)
        took("gather 64: one script", lambda some: store.gather(some, now=NOW), batch)
        took("gather 64: two pipelines", pipelined.gather, batch)
        took("gather 64: call by call", naive.gather, batch)
        took("learn 64: a script each", learn, batch)
        took("learn 64: call by call", naive.learn, batch)
        took("unlearn 8: a script each", unlearn, batch[:8])
    print(f"a comment reads {names / _ROUNDS / _BATCH:.0f} counters of decisions, a batch")
    print(f"{records / _ROUNDS:.0f} different ones, beside those of sightings")
    print(f"\n{'milliseconds':26} {'n':>6} {'p50':>8} {'p99':>8}")
    for what, taken in times.items():
        print(
            f"{what:26} {len(taken):>6} {_percentile(taken, 0.5):8.2f} "
            f"{_percentile(taken, 0.99):8.2f}"
        )
    client.close()
    store.close()


def _print_memory(url: str) -> None:
    client = redis.Redis.from_url(url)
    store = ValkeyHistoryStore(url)
    senders = [
        make_comment("Thanks!", sender=Sender(address_key=f"{n:032x}")) for n in range(_ADDRESSES)
    ]
    used = [_used(client)]
    for number, comment in enumerate(senders):
        store.learn(f"dec_{number:026}", comment, Ruling.REJECT, at=NOW)
    used.append(_used(client))
    for number, comment in enumerate(senders):
        if number % 10 == 0:
            for week in range(1, 10):
                at = NOW - timedelta(weeks=week)
                store.learn(f"dec_{number:023}{week:03}", comment, Ruling.REJECT, at=at)
    used.append(_used(client))
    for start in range(0, len(senders), _BATCH):
        store.gather(senders[start : start + _BATCH], now=NOW)
    used.append(_used(client))
    parts = ("one decision each", "nine more on each tenth", "one sighting each, for 27 hours")
    print(f"\nmemory of Valkey, measured on {_ADDRESSES:,} addresses of one site, each record kept")
    print("for the site and for all sites, with the markers of decisions and comments")
    print(f"{'':34} {'bytes an address':>17} {'GB a million, by proportion':>28}")
    for part, before, after in zip(parts, used, used[1:], strict=False):
        each = (after - before) / _ADDRESSES
        print(f"{part:34} {each:17.0f} {each / 1_000:28.2f}")
    client.close()
    store.close()


def _used(client: redis.Redis) -> int:
    return int(client.info("memory")["used_memory"])


def main() -> None:
    """Print milliseconds of each way side by side, then bytes an address."""
    with running_valkey() as server:
        _print_times(server.url)
    with running_valkey() as server:
        _print_memory(server.url)


if __name__ == "__main__":
    main()
