"""Tests what the history in Valkey does beyond the contract: failing fast, expiring, hiding."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
import redis

from service.domain.comment import Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.sender import Record
from service.stores.valkey.history import ValkeyHistoryStore
from tests.factories import NOW, make_comment

COMMENT = make_comment(
    "hello https://shop.example", sender=Sender(address_key="a1", email_domain="mail.example")
)
LONG = (
    "Our workshop delivers handmade larch benches assembled and polished throughout the country, "
    "with certified timber, seven years guarantee and friendly personal advice every weekday"
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
        store.learn(f"e{step}", replace(COMMENT, text=LONG), Ruling.APPROVE, at=at)
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
