"""Tests that histories can be kept on a cluster, whose scripts may touch one slot alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
import redis

from service.domain.comment import Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.sender import Record, TrackRecord
from service.stores.valkey.history import ValkeyHistoryStore
from tests.factories import NOW, make_comment
from tests.servers import Server, free_port, running_valkey_cluster

WORDS = (
    "Our workshop delivers handmade larch benches assembled and polished throughout the country, "
    "with certified timber, seven years guarantee https://benches.example every weekday"
)
SENDER = Sender(
    address_key="a2",
    network_key="n",
    email_key="e",
    before_rotation=Sender(address_key="a1", email_key="e0"),
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sequence[Server]]:
    with running_valkey_cluster() as servers:
        yield servers


def test_a_cluster_gathers_learns_takes_back_and_forgets(cluster):
    store = ValkeyHistoryStore(cluster[0].url, cluster=True)
    comments = [make_comment(WORDS, sender=SENDER) for _ in range(64)]
    rejected = TrackRecord(here=Record(rejected=1), everywhere=Record(rejected=1))
    often = replace(rejected, everywhere=Record(rejected=1, seen_hour=63, seen_day=63))

    blank = store.is_blank()
    store.mark_filled()
    learnt = [store.learn("d1", comments[0], Ruling.REJECT, at=NOW) for _ in range(2)]
    store.learn("d2", comments[1], Ruling.APPROVE, at=NOW)
    taken_back = store.unlearn("d2", comments[1], Ruling.APPROVE, at=NOW)
    seen = store.gather(comments, now=NOW)
    store.forget(SENDER)
    (after,) = store.gather(comments[:1], now=NOW)

    store.close()
    assert (blank, learnt, taken_back) == (True, [True, False], True)
    # A person's own copies are none.
    assert (seen[-1].address, seen[-1].content) == (often, rejected)
    assert after.address == TrackRecord()
    assert after.network.here.rejected == 1


def test_every_key_of_a_cluster_lies_on_one_node(cluster):
    store = ValkeyHistoryStore(cluster[0].url, cluster=True)
    store.learn("d1", make_comment(WORDS, sender=SENDER), Ruling.REJECT, at=NOW)
    clients = [redis.Redis.from_url(server.url) for server in cluster]

    sizes = [client.dbsize() for client in clients]

    for client in clients:
        client.close()
    store.close()
    assert sorted(size > 0 for size in sizes) == [False, False, True]


def test_a_cluster_that_is_away_is_unavailable_at_the_first_call():
    store = ValkeyHistoryStore(f"redis://127.0.0.1:{free_port()}/0", cluster=True)

    with pytest.raises(StoreUnavailableError):
        store.ping()

    store.close()
