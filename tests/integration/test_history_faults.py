"""What a real Valkey's bad days do to verdicts and to what is learnt: the table of faults."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

from service.domain.comment import CommentId, Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.verdict import Outcome, Verdict
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.judging import judge_batch
from service.moderation.remembering import rebuild_if_blank, remember_open
from service.stores.valkey.history import ValkeyHistoryStore
from service.stores.valkey.notes import RebuildPlace
from tests.factories import keep_all, make_comment
from tests.fakes import FixedClassifier, make_services
from tests.servers import Server, free_port, running_valkey

MARA = Sender(address_key="a1", network_key="n1", email_key="e1", name_key="m1")


class Desk:
    """Judges and decides comments of one sender, Mara; the database is a file in RAM.

    Time of day stands still; `monotonic` is the history's.
    """

    def __init__(self, url: str, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.history = ValkeyHistoryStore(url, monotonic=monotonic)
        self._place = RebuildPlace(url)
        self.services = make_services(
            history=self.history,
            rebuild_place=self._place,
            classifier=FixedClassifier(0.01),
            judges=False,
        )

    def keep(self, sender: Sender = MARA) -> CommentId:
        """Keep a comment and return its id."""
        comment = make_comment(sender=sender)
        keep_all(self.services.comments, comment)
        return comment.id

    def judge(self, count: int = 4) -> list[Verdict]:
        """Keep some comments, judge them in one batch and return their verdicts, all of them."""
        ids = [self.keep() for _ in range(count)]
        judge_batch(ids, self.services)
        verdicts = [self.services.cases.get(one).verdict for one in ids]
        return [verdict for verdict in verdicts if verdict is not None]

    def decide(self, ruling: Ruling = Ruling.REJECT) -> CommentId:
        """Have a moderator rule on a comment of Mara's and return its id."""
        comment_id = self.keep()
        decide_comment(comment_id, ruling, self.services, decided_by="mod")
        return comment_id

    def undo(self, comment_id: CommentId) -> None:
        """Have the moderator take a ruling back."""
        undo_decision(comment_id, self.services, undone_by="mod")

    def upkeep(self) -> None:
        """Do what is done on time; a store that is away is tried next time."""
        with contextlib.suppress(StoreUnavailableError):
            rebuild_if_blank(self.services, goes_on=lambda: True)
        with contextlib.suppress(StoreUnavailableError):
            remember_open(self.services)

    def unremembered(self) -> int:
        """Return how many decisions and undoings histories do not know of."""
        return len(self.services.decisions.find_unremembered(limit=1_000))

    def rejected(self) -> float:
        """Return how many rejections of Mara's comments the server knows of."""
        asked = make_comment(sender=MARA)
        [history] = self.history.gather([asked], now=self.services.clock())
        return history.email.everywhere.rejected

    def close(self) -> None:
        """Give the connections back."""
        self.history.close()
        self._place.close()


# After this many failures in a row the breaker asks no more.
FAILURES = 3
WITHOUT_HISTORY = [("history",)]


@dataclass
class Ground:
    """A Valkey that keeps its data, and a desk that works with it."""

    folder: Path
    port: int
    server: Server
    desk: Desk
    seconds: float = 0.0

    def client(self) -> redis.Redis:
        """Return a client of the server."""
        password = (self.folder / "password").read_text()
        return redis.Redis(port=self.port, password=password)

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
    with running_valkey(folder, port=port) as server:
        password = (folder / "password").read_text()
        made: list[Ground] = []
        url = f"redis://:{password}@127.0.0.1:{port}/0"
        desk = Desk(url, monotonic=lambda: made[0].seconds)
        made.append(Ground(folder, port, server, desk))
        desk.upkeep()
        desk.decide()
        assert flags(desk.judge()) == [()]
        assert desk.rejected() == 1
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
    assert desk.history.reading.counts().refused == 10 - FAILURES
    assert desk.services.cases.get(decided).decision is not None
    ground.seconds += 1
    assert flags(desk.judge()) == [()]
    desk.upkeep()
    assert (desk.unremembered(), desk.rejected()) == (0, 2)


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


@pytest.mark.parametrize(
    ("ends_writes", "mends"),
    [
        (("config_set", "maxmemory", "1"), ("config_set", "maxmemory", "0")),
        # A primary that was made a replica of one that is not there any more.
        (("replicaof", "127.0.0.1", "1"), ("replicaof", "NO", "ONE")),
    ],
    ids=["full", "read only"],
)
def test_a_server_that_takes_no_writes_answers_and_learns_later_what_it_could_not(
    ground, ends_writes, mends
):
    desk, client = ground.desk, ground.client()
    getattr(client, ends_writes[0])(*ends_writes[1:])

    decided = [desk.decide() for _ in range(5)]
    verdicts = judge_batches(desk, 5)
    meanwhile = (desk.unremembered(), desk.rejected())
    getattr(client, mends[0])(*mends[1:])
    ground.seconds += 1
    desk.upkeep()

    assert all(desk.services.cases.get(one).decision for one in decided)
    assert meanwhile == (5, 1)
    assert flags(verdicts) == [()]
    assert desk.history.reading.counts().refused == 0
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
