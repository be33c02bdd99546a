"""Tests what the history in Valkey does beyond the contract: failing fast, expiring, hiding."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

import pytest
import redis

from service.domain.comment import Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.history import Record
from service.stores.valkey_history import ValkeyHistoryStore
from tests.factories import make_comment
from tests.servers import free_port, running_valkey

COMMENT = make_comment("hello", sender=Sender(address_key="a1", email_domain="mail.example"))
HALF_A_YEAR = 180 * 24 * 3600


def test_an_unreachable_server_is_unavailable_at_once():
    store = ValkeyHistoryStore(f"redis://:pw@127.0.0.1:{free_port()}/0")
    started = time.monotonic()

    for call in (
        lambda: store.gather([COMMENT]),
        lambda: store.learn("d1", COMMENT, Ruling.REJECT),
        lambda: store.unlearn("d1", COMMENT, Ruling.REJECT),
        store.ping,
    ):
        with pytest.raises(StoreUnavailableError):
            call()

    assert time.monotonic() - started < 1


def test_a_server_that_does_not_answer_is_unavailable_within_its_budget(valkey):
    store = ValkeyHistoryStore(valkey.url)
    store.ping()
    blocker = redis.Redis.from_url(valkey.url)
    blocker.client_pause(800, all=True)
    started = time.monotonic()

    with pytest.raises(StoreUnavailableError):
        store.gather([COMMENT])

    waited = time.monotonic() - started
    blocker.client_unpause()
    blocker.close()
    store.close()
    assert waited < 1


def test_a_wrong_password_is_unavailable_and_not_told(valkey):
    store = ValkeyHistoryStore(valkey.url.replace("unix://:", "unix://:wrong"))

    with pytest.raises(StoreUnavailableError) as failure:
        store.ping()

    store.close()
    assert "wrong" not in str(failure.value)


def test_a_restart_of_the_server_is_not_noticed(tmp_path: Path):
    port = free_port()
    with running_valkey(tmp_path, port=port) as server:
        store = ValkeyHistoryStore(server.url)
        store.learn("d1", COMMENT, Ruling.REJECT)

    with running_valkey(tmp_path, port=port):
        seen = store.gather([COMMENT])
        store.close()

    assert seen[0].address.everywhere == Record(rejected=1)


def test_everything_expires_and_a_decision_refreshes_it(valkey):
    prefix = secrets.token_hex(8)
    store = ValkeyHistoryStore(valkey.url, prefix=prefix)
    client = redis.Redis.from_url(valkey.url)
    store.learn("d1", COMMENT, Ruling.REJECT)
    for key in client.scan_iter(f"{prefix}*"):
        client.expire(key, 10)

    store.learn("d2", COMMENT, Ruling.REJECT)
    store.unlearn("d1", COMMENT, Ruling.REJECT)

    remaining = [client.ttl(key) for key in client.scan_iter(f"{prefix}*")]
    client.close()
    store.close()
    assert len(remaining) == 3
    assert all(HALF_A_YEAR - 60 < seconds <= HALF_A_YEAR for seconds in remaining)


def test_taking_back_what_has_expired_leaves_no_debt(valkey):
    prefix = secrets.token_hex(8)
    store = ValkeyHistoryStore(valkey.url, prefix=prefix)
    client = redis.Redis.from_url(valkey.url)
    store.learn("d1", COMMENT, Ruling.REJECT)
    client.delete(f"{prefix}:{{history}}:address:a1")

    store.unlearn("d1", COMMENT, Ruling.REJECT)
    seen = store.gather([COMMENT])

    client.close()
    store.close()
    assert seen[0].address.everywhere == Record()


def test_a_batch_is_gathered_in_one_round_trip(valkey):
    store = ValkeyHistoryStore(valkey.url, domains_of=lambda c: [c.text])
    client = redis.Redis.from_url(valkey.url)
    store.ping()
    batch = [
        make_comment(f"{n}.example", sender=Sender(address_key=f"a{n}", network_key="n"))
        for n in range(64)
    ]
    before = client.info("stats")["total_reads_processed"]

    store.gather(batch)

    after = client.info("stats")["total_reads_processed"]
    client.close()
    store.close()
    # Our own two questions, and the pipeline in as many reads as its size needs.
    assert after - before <= 4


def test_no_key_shows_a_domain_in_the_clear(valkey):
    prefix = secrets.token_hex(8)
    store = ValkeyHistoryStore(valkey.url, prefix=prefix, domains_of=lambda _: ["shop.example"])
    client = redis.Redis.from_url(valkey.url)

    store.learn("d1", COMMENT, Ruling.REJECT)

    keys = [key.decode() for key in client.scan_iter(f"{prefix}*")]
    client.close()
    store.close()
    assert len(keys) == 3
    assert not any("shop.example" in key or "mail.example" in key for key in keys)
