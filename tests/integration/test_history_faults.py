"""What a real Valkey's bad days do to verdicts and to what is learnt: the table of faults.

Nothing here is timed: that nobody waits is asserted by counting the calls that reach the server.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

from service.domain.verdict import Outcome, Verdict
from tests.integration.desk import Desk
from tests.integration.installation import until
from tests.proxies import Proxy, running_proxy
from tests.servers import Server, free_port, running_valkey

# After this many failures in a row the breaker asks no more.
FAILURES = 3
WITHOUT_HISTORY = [("history",)]


@dataclass
class Ground:
    """A Valkey that keeps its data, a proxy before it, a desk that only knows the proxy."""

    folder: Path
    port: int
    server: Server
    proxy: Proxy
    desk: Desk
    seconds: float = 0.0

    def client(self, port: int | None = None) -> redis.Redis:
        """Return a client past the proxy."""
        password = (self.folder / "password").read_text()
        return redis.Redis(port=port or self.port, password=password)

    @contextlib.contextmanager
    def restarted(self) -> Iterator[Server]:
        """Start the server again on its old port, with its old data."""
        with running_valkey(self.folder, port=self.port) as server:
            yield server


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    """Give a server whose histories are filled and know of one rejection of Mara's."""
    folder, port = tmp_path / "valkey", free_port()
    folder.mkdir()
    with running_valkey(folder, port=port) as server, running_proxy(port) as proxy:
        password = (folder / "password").read_text()
        made: list[Ground] = []
        desk = Desk(
            f"redis://:{password}@127.0.0.1:{proxy.port}/0", monotonic=lambda: made[0].seconds
        )
        made.append(Ground(folder, port, server, proxy, desk))
        desk.upkeep()
        desk.decide()
        assert flags(desk.judge()) == [()]
        assert desk.rejected() == 1
        desk.store.calls.clear()
        yield made[0]
        desk.close()


def flags(verdicts: list[Verdict]) -> list[tuple[str, ...]]:
    """Return what the verdicts lacked, each different answer once."""
    return list(dict.fromkeys(verdict.degraded_by for verdict in verdicts))


def outcomes(verdicts: list[Verdict]) -> set[Outcome]:
    return {verdict.outcome for verdict in verdicts}


def judge_batches(desk: Desk, batches: int) -> list[Verdict]:
    return [verdict for _ in range(batches) for verdict in desk.judge()]


def test_a_server_that_hangs_is_waited_for_three_times_and_no_more(ground):
    desk = ground.desk
    os.kill(ground.server.process.pid, signal.SIGSTOP)

    verdicts = judge_batches(desk, 10)
    decided = desk.decide()
    os.kill(ground.server.process.pid, signal.SIGCONT)

    assert len(verdicts) == 40
    assert flags(verdicts) == WITHOUT_HISTORY
    assert outcomes(verdicts) == {Outcome.UNSURE}
    assert desk.store.calls["gather"] == FAILURES
    assert desk.breaker.reading.counts().refused == 10 - FAILURES
    assert desk.services.review.cases.get(decided).decision is not None
    ground.seconds += 1
    assert flags(desk.judge()) == [()]
    desk.upkeep()
    assert (desk.unremembered(), desk.rejected()) == (0, 2)


def test_while_a_server_hangs_decisions_wait_for_it_three_times_and_no_more(ground):
    desk = ground.desk
    os.kill(ground.server.process.pid, signal.SIGSTOP)

    for _ in range(6):
        desk.decide()
    os.kill(ground.server.process.pid, signal.SIGCONT)

    assert desk.store.calls["learn"] == FAILURES
    assert desk.unremembered() == 6
    ground.seconds += 1
    desk.upkeep()
    assert (desk.unremembered(), desk.rejected()) == (0, 7)


def test_a_server_that_is_slow_within_the_budget_costs_no_evidence(ground):
    ground.proxy.delay_seconds = 0.02

    verdicts = judge_batches(ground.desk, 5)
    ground.desk.decide()

    assert flags(verdicts) == [()]
    assert ground.desk.unremembered() == 0
    assert ground.desk.breaker.reading.counts().opened == 0


def test_a_server_slower_than_the_budget_is_left_alone_until_it_is_quick_again(ground):
    desk = ground.desk
    ground.proxy.delay_seconds = 2.0

    verdicts = judge_batches(desk, 8)
    ground.proxy.delay_seconds = 0.0
    ground.proxy.drop()
    ground.seconds += 1
    after = desk.judge()

    assert flags(verdicts) == WITHOUT_HISTORY
    assert desk.store.calls["gather"] == FAILURES + 1
    assert flags(after) == [()]


def test_a_server_that_is_down_costs_evidence_alone_and_comes_back_with_what_it_knew(ground):
    desk = ground.desk
    first = desk.decide()
    ground.server.kill()

    verdicts = judge_batches(desk, 6)
    desk.undo(first)
    desk.decide()
    open_meanwhile = desk.unremembered()
    with ground.restarted():
        ground.seconds += 1
        after = desk.judge()
        desk.upkeep()

        assert (desk.unremembered(), desk.rejected()) == (0, 2)
    assert len(verdicts) == 24
    assert flags(verdicts) == WITHOUT_HISTORY
    assert open_meanwhile == 2
    assert flags(after) == [()]


def test_a_server_that_goes_down_after_the_gathering_takes_nothing_from_the_batch(ground):
    desk = ground.desk
    desk.classifier.meanwhile = ground.server.kill

    verdicts = desk.judge(64)

    assert len(verdicts) == 64
    assert flags(verdicts) == [()]
    assert flags(desk.judge()) == WITHOUT_HISTORY


def test_a_connection_cut_in_the_middle_of_the_gathering_is_made_again_at_once(ground):
    ground.proxy.cuts_once = True

    verdicts = ground.desk.judge(64)

    assert len(verdicts) == 64
    assert flags(verdicts) == [()]


def test_a_server_that_cuts_every_gathering_leaves_verdicts_without_history(ground):
    ground.proxy.cuts = True

    verdicts = judge_batches(ground.desk, 5)
    ground.proxy.cuts = False
    ground.seconds += 1

    assert flags(verdicts) == WITHOUT_HISTORY
    assert ground.desk.store.calls["gather"] == FAILURES
    assert flags(ground.desk.judge()) == [()]


def test_a_server_that_was_wiped_is_not_believed_until_it_is_filled_again(ground):
    desk = ground.desk
    ground.client().flushall()

    before = desk.judge()
    desk.decide()
    half = desk.judge()
    desk.upkeep()
    after = desk.judge()

    assert flags(before + half) == WITHOUT_HISTORY
    assert outcomes(before + half) == {Outcome.UNSURE}
    assert flags(after) == [()]
    assert desk.rejected() == 2
    assert desk.breaker.reading.counts().opened == 0


def test_a_server_that_is_full_answers_and_learns_later_what_it_could_not(ground):
    desk = ground.desk
    ground.client().config_set("maxmemory", "1")

    decided = [desk.decide() for _ in range(5)]
    verdicts = judge_batches(desk, 5)
    full = (desk.unremembered(), desk.rejected())
    ground.client().config_set("maxmemory", "0")
    ground.seconds += 1
    desk.upkeep()

    assert all(desk.services.review.cases.get(one).decision for one in decided)
    assert full == (5, 1)
    assert flags(verdicts) == [()]
    assert desk.store.calls["gather"] == 5
    assert (desk.unremembered(), desk.rejected()) == (0, 6)


def test_a_server_that_is_nearly_full_keeps_its_room_for_decisions(ground):
    desk, client = ground.desk, ground.client()
    seen = set(client.scan_iter("*:seen:*"))
    client.config_set("maxmemory", int(client.info("memory")["used_memory"] / 0.85))

    verdicts = desk.judge()
    desk.decide()
    counted_meanwhile = set(client.scan_iter("*:seen:*")) - seen
    client.config_set("maxmemory", "0")
    desk.judge()

    assert flags(verdicts) == [()]
    assert counted_meanwhile == set()
    assert (desk.unremembered(), desk.rejected()) == (0, 2)
    assert set(client.scan_iter("*:seen:*")) - seen


def test_a_server_that_may_only_be_read_answers_and_learns_later_what_it_could_not(ground):
    desk = ground.desk
    # A primary that was made a replica of one that is not there any more.
    ground.client().replicaof("127.0.0.1", free_port())

    desk.decide()
    verdicts = judge_batches(desk, 5)
    meanwhile = desk.unremembered()
    ground.client().replicaof("NO", "ONE")
    ground.seconds += 1
    desk.upkeep()

    assert flags(verdicts) == [()]
    assert meanwhile == 1
    assert (desk.unremembered(), desk.rejected()) == (0, 2)


def test_a_replica_that_takes_over_goes_on_with_what_it_knows(ground, tmp_path):
    desk = ground.desk
    folder, port = tmp_path / "replica", free_port()
    folder.mkdir()
    password = (ground.folder / "password").read_text()
    (folder / "password").write_text(password)
    with running_valkey(folder, port=port):
        replica = ground.client(port)
        replica.config_set("masterauth", password)
        replica.replicaof("127.0.0.1", ground.port)
        until(lambda: replica.info("replication").get("master_link_status") == "up")
        ground.server.kill()
        lost = judge_batches(desk, 4)
        desk.decide()
        replica.replicaof("NO", "ONE")
        ground.proxy.target = port
        ground.seconds += 1

        after = desk.judge()
        desk.upkeep()

        assert flags(lost) == WITHOUT_HISTORY
        assert flags(after) == [()]
        assert (desk.unremembered(), desk.rejected()) == (0, 2)
