"""What stores in Valkey do beyond the contract: failing fast, expiring, hiding."""

import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
import redis

from service.domain.comment import Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.sender import Record
from service.stores.valkey.client import Circuit
from service.stores.valkey.history import ValkeyHistoryStore
from tests.factories import NOW, make_comment

COMMENT = make_comment(
    "hello https://shop.example", sender=Sender(address_key="a1", email_domain="mail.example")
)


WORDS = (
    "Our workshop delivers handmade larch benches assembled and polished throughout the country, "
    "with certified timber, seven years guarantee https://benches.example every weekday"
)
HALF_A_YEAR = 180 * 24 * 3600


@pytest.fixture
def opened(valkey) -> Iterator[tuple[ValkeyHistoryStore, redis.Redis, str]]:
    """Give a history, a client that looks at its keys, and what these begin with."""
    prefix = secrets.token_hex(8)
    store, client = ValkeyHistoryStore(valkey.url, prefix=prefix), redis.Redis.from_url(valkey.url)
    yield store, client, prefix
    client.close()
    store.close()


def test_a_wrong_password_is_unavailable_and_not_told(valkey):
    store = ValkeyHistoryStore(valkey.url.replace("unix://:", "unix://:wrong"))

    with pytest.raises(StoreUnavailableError) as failure:
        store.ping()

    store.close()
    assert "wrong" not in str(failure.value)


def test_everything_expires_and_a_decision_refreshes_it(opened):
    store, client, prefix = opened
    store.learn("d1", COMMENT, Ruling.REJECT, at=NOW)
    for key in client.scan_iter(f"{prefix}*"):
        client.expire(key, 10)

    store.learn("d2", COMMENT, Ruling.REJECT, at=NOW)
    store.unlearn("d1", COMMENT, Ruling.REJECT, at=NOW)

    remaining = [client.ttl(key) for key in client.scan_iter(f"{prefix}*")]
    # The known sites, two markers, and three records, each here and everywhere.
    assert len(remaining) == 9
    assert all(HALF_A_YEAR - 60 < seconds <= HALF_A_YEAR for seconds in remaining)


def test_taking_back_what_has_expired_leaves_no_debt(opened):
    store, client, prefix = opened
    store.learn("d1", COMMENT, Ruling.REJECT, at=NOW)
    removed = client.delete(f"{prefix}:{{reputation}}:d2:address:a1")

    store.unlearn("d1", COMMENT, Ruling.REJECT, at=NOW)
    seen = store.gather([COMMENT], now=NOW)

    assert removed == 1
    assert seen[0].address.everywhere == Record()


def test_a_batch_is_gathered_in_one_call(opened):
    store, client, _ = opened
    batch = [
        make_comment(
            f"https://{n}.example",
            sender=Sender(
                address_key=f"a{n}",
                network_key="n",
                before_rotation=Sender(address_key=f"b{n}", network_key="m"),
            ),
        )
        for n in range(64)
    ]
    store.gather([COMMENT], now=NOW)
    before = calls_of_scripts(client)

    store.gather(batch, now=NOW)

    after = calls_of_scripts(client)
    assert after - before == 1


def calls_of_scripts(client: redis.Redis) -> int:
    return client.info("commandstats")["cmdstat_evalsha"]["calls"]


def test_what_was_only_seen_is_gone_in_little_more_than_a_day(opened):
    store, client, prefix = opened

    store.gather([COMMENT], now=NOW)

    remaining = [
        client.ttl(key) for key in client.scan_iter(f"{prefix}*") if not key.endswith(b":sites")
    ]
    assert len(remaining) == 3
    assert all(0 < seconds <= 27 * 3600 for seconds in remaining)


def test_no_tally_grows_with_time(opened):
    store, client, prefix = opened

    for step in range(300):
        at = NOW + timedelta(days=step)
        store.learn(f"d{step}", COMMENT, Ruling.REJECT, at=at)
        store.learn(f"e{step}", replace(COMMENT, text=WORDS), Ruling.APPROVE, at=at)
        store.gather([replace(COMMENT, id=f"c{step}")], now=NOW + timedelta(minutes=20 * step))

    sizes = [
        client.hlen(key) for key in client.scan_iter(f"{prefix}*") if client.type(key) == b"hash"
    ]
    assert max(sizes) <= 73


def test_no_key_shows_a_domain_in_the_clear(opened):
    store, client, prefix = opened

    store.learn("d1", COMMENT, Ruling.REJECT, at=NOW)
    store.gather([COMMENT], now=NOW)

    keys = [key.decode() for key in client.scan_iter(f"{prefix}*")]
    assert len(keys) == 11
    assert not any("shop.example" in key or "mail.example" in key for key in keys)


class Store:
    """Answers or fails as it is told, and counts how often it was asked."""

    def __init__(self) -> None:
        self.away = False
        self.asked = 0
        self.seconds = 0.0

    def ask(self) -> str:
        self.asked += 1
        if self.away:
            raise StoreUnavailableError("no answer in time")
        return "answer"


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def circuit(store: Store) -> Circuit:
    return Circuit("reading", monotonic=lambda: store.seconds)


def fail(circuit: Circuit, store: Store, times: int) -> None:
    for _ in range(times):
        with pytest.raises(StoreUnavailableError):
            circuit.call(store.ask)


def test_after_three_failures_in_a_row_the_store_is_asked_no_more(circuit, store):
    store.away = True

    fail(circuit, store, 10)

    assert store.asked == 3
    assert (circuit.is_open, circuit.opened, circuit.refused) == (True, 1, 7)


def test_failures_that_are_not_in_a_row_open_nothing(circuit, store):
    for _ in range(4):
        store.away = True
        fail(circuit, store, 2)
        store.away = False
        circuit.call(store.ask)

    assert circuit.opened == 0


def test_each_failed_try_doubles_the_pause_up_to_eight_seconds(circuit, store):
    store.away = True
    fail(circuit, store, 3)
    tried_at = []

    for quarter in range(4 * 40):
        store.seconds = quarter / 4
        before = store.asked
        fail(circuit, store, 1)
        if store.asked > before:
            tried_at.append(store.seconds)

    assert tried_at == [1, 3, 7, 15, 23, 31, 39]


def test_of_many_threads_one_tries_and_the_others_are_refused_meanwhile(circuit, store):
    store.away = True
    fail(circuit, store, 3)
    store.seconds = 1.0
    refused_before = circuit.refused
    entered, may_answer = threading.Event(), threading.Event()

    def slow_answer() -> str:
        entered.set()
        assert may_answer.wait(10)
        return "slow answer"

    with ThreadPoolExecutor(1) as other:
        other.submit(circuit.call, slow_answer)
        assert entered.wait(10)
        fail(circuit, store, 5)
        may_answer.set()
    store.away = False

    assert store.asked == 3
    assert circuit.refused == refused_before + 5
    assert circuit.call(store.ask) == "answer"
    assert not circuit.is_open


def test_a_try_that_ends_for_another_reason_leaves_the_next_one_free_to_try(circuit, store):
    store.away = True
    fail(circuit, store, 3)
    store.away = False
    store.seconds = 1.0

    def break_down() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        circuit.call(break_down)

    assert circuit.call(store.ask) == "answer"
