"""The queue over a real Valkey, there and away, full and with foreign things in it."""

import contextlib
import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.comment import CommentId, Lane
from service.domain.errors import StoreUnavailableError
from service.tasks.broker import LANE_QUEUES, TASKS_QUEUE, open_client
from service.tasks.heartbeat import WORKERS, live_workers
from service.tasks.queue import ValkeyScoringQueue, _message
from tests.commands import until
from tests.servers import GIVEN_UP_SECONDS, free_port, running_valkey


@pytest.fixture
def own_valkey():
    with running_valkey(port=free_port()) as server:
        yield server


@pytest.fixture
def queue(own_valkey):
    with contextlib.closing(open_client(own_valkey.url)) as client:
        yield ValkeyScoringQueue(client)


def ids(count):
    return [CommentId(f"c{number}") for number in range(count)]


def test_what_threads_put_waits_in_its_lane(queue):
    queue.put(ids(2), Lane.INTERACTIVE)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: queue.put(ids(600), Lane.BULK), range(16)))

    assert queue.depth() == {Lane.BULK: 9_600, Lane.INTERACTIVE: 2}


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


SECRET = "zanzibar"
AWAY = "the queue cannot be used"
BACK = "the queue can be used again"
_OURS = json.loads(_message(CommentId(SECRET), SECRET))
FOREIGN = (
    f"not JSON, {SECRET}",
    "5",
    f'{{"{SECRET}": 1}}',
    "[" * 100_000,
    '{"__type__": "uuid", "__value__": 5}',
    json.dumps(_OURS | {"headers": {"task": SECRET, "id": SECRET}}),
    json.dumps(_OURS | {"properties": 5}),
    json.dumps(_OURS | {"headers": 5}),
    json.dumps(_OURS | {"body": SECRET}),
)


def test_what_is_none_of_ours_in_valkey_is_dropped_with_a_line_that_does_not_quote_it(install):
    queues = (TASKS_QUEUE, LANE_QUEUES[Lane.INTERACTIVE])
    installation = install()
    with contextlib.closing(open_client(installation.valkey_url)) as valkey:
        for name, value in (("a", SECRET), ("b", "[]"), ("c", "{}"), ("d", '{"at": "now"}')):
            valkey.hset(WORKERS, name, value)
        valkey.hset("slopsieve.unacked", "foreign", f"not JSON, {SECRET}")
        valkey.zadd("slopsieve.unacked_index", {"foreign": 1.0})
        before = live_workers(valkey, WORKERS)
        process = installation.start("service.processes.worker", says="worker started")
        for queue in queues:
            valkey.lpush(queue, *FOREIGN)
        # Each message, and the unanswered one that is delivered again.
        dropped = len(queues) * len(FOREIGN) + 1
        understood = "a message was not understood"
        until(lambda: installation.log.read_text().count(understood) == dropped, seconds=60)

        assert process.poll() is None
        assert SECRET not in installation.log.read_text()
        assert not any(valkey.llen(queue) for queue in queues)
        assert not valkey.hexists("slopsieve.unacked", "foreign")
        assert (before, valkey.hlen(WORKERS)) == ([], 1)


def test_a_full_valkey_ends_no_process_and_loses_no_comment(install, tmp_path):
    home = tmp_path / "valkey"
    home.mkdir()
    with running_valkey(home) as server:
        installation = install(valkey_url=server.url)
        valkey = open_client(server.url)
        worker = installation.start_worker(0.01)
        until(lambda: live_workers(valkey, WORKERS))
        ids = installation.submit([f"text {number}" for number in range(100)])

        valkey.config_set("maxmemory-policy", "noeviction")
        valkey.config_set("maxmemory", "1mb")
        until(lambda: AWAY in installation.log.read_text())
        ids += installation.submit(["while it is full"])
        said = installation.log.read_text()
        valkey.config_set("maxmemory", "0")
        until(lambda: BACK in installation.log.read_text())
        installation.sweep_until_judged(ids)
        valkey.close()

        assert worker.poll() is None
        assert 'reason="its memory is full"' in said
