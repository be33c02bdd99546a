"""The queue over a real Valkey, there and away."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError
from service.tasks.broker import open_client
from service.tasks.queue import ValkeyScoringQueue
from tests.servers import GIVEN_UP_SECONDS, free_port, running_valkey


@pytest.fixture
def own_valkey():
    with running_valkey(port=free_port()) as server:
        yield server


@pytest.fixture
def queue(own_valkey):
    queue = ValkeyScoringQueue(own_valkey.url)
    yield queue
    queue.close()


def ids(count):
    return [CommentId(f"c{number}") for number in range(count)]


def test_what_is_put_waits_in_its_lane(queue):
    queue.put(ids(700), Lane.BULK)
    queue.put(ids(2), Lane.INTERACTIVE)

    assert queue.depth() == {Lane.BULK: 700, Lane.INTERACTIVE: 2}


def test_messages_carry_an_id_and_nothing_else(queue, own_valkey):
    queue.put([CommentId("com_0123")], Lane.BULK)

    client = open_client(own_valkey.url)
    [message] = client.lrange("slopsieve.bulk", 0, -1)
    client.close()
    assert '"body": "eyJjb21tZW50X2lkIjogImNvbV8wMTIzIn0="' in message
    assert '"headers": {}' in message


def test_threads_share_one_queue(queue):
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: queue.put(ids(10), Lane.BULK), range(50)))

    assert queue.depth()[Lane.BULK] == 500


def test_a_server_that_is_gone_is_noticed_at_once(queue, own_valkey):
    queue.put(ids(1), Lane.BULK)
    own_valkey.kill()
    began = time.monotonic()

    with pytest.raises(StoreUnavailableError):
        queue.put(ids(1), Lane.BULK)
    with pytest.raises(StoreUnavailableError):
        queue.depth()

    assert time.monotonic() - began < GIVEN_UP_SECONDS


@pytest.mark.parametrize("connected", [True, False], ids=["connected", "not yet connected"])
def test_a_server_that_hangs_is_given_up(queue, own_valkey, connected):
    if connected:
        queue.put(ids(1), Lane.BULK)
    own_valkey.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()

    with pytest.raises(StoreUnavailableError):
        queue.put(ids(1), Lane.BULK)

    seconds = time.monotonic() - began
    own_valkey.process.send_signal(signal.SIGCONT)
    assert seconds < GIVEN_UP_SECONDS
