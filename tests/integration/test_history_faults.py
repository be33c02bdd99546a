"""What a real Valkey's bad days do to verdicts and to what is learnt: the table of faults."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from service.domain.comment import CommentId, Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.judging import judge_batch
from service.moderation.remembering import rebuild_if_blank, remember_open
from service.stores.valkey.history import ValkeyHistoryStore
from service.stores.valkey.notes import RebuildPlace
from tests.factories import keep_all, make_comment
from tests.fakes import FixedClassifier, make_services
from tests.servers import Server, free_port, running_valkey

MARA = Sender(address_key="a1", network_key="n1", email_key="e1", name_key="m1")
# After this many failures in a row the breaker asks no more.
FAILURES = 3
WELL, WITHOUT_HISTORY = {()}, {("history",)}


class Desk:
    """Judges and decides comments of one sender, Mara, with histories on this server.

    Time of day stands still; `seconds` is the monotonic time of the histories.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self.seconds = 0.0
        self.history = ValkeyHistoryStore(server.url, monotonic=lambda: self.seconds)
        self.client = redis.Redis.from_url(server.url)
        self.place = RebuildPlace(server.url)
        self.services = make_services(
            history=self.history,
            rebuild_place=self.place,
            classifier=FixedClassifier(0.01),
            judges=False,
        )

    def keep(self) -> CommentId:
        comment = make_comment(sender=MARA)
        keep_all(self.services.comments, comment)
        return comment.id

    def judge(self, batches: int = 1) -> set[tuple[str, ...]]:
        """Judge batches of four new comments; return what their verdicts lacked."""
        missing = set()
        for _ in range(batches):
            ids = [self.keep() for _ in range(4)]
            judge_batch(ids, self.services)
            verdicts = [self.services.cases.get(one).verdict for one in ids]
            assert all(one.outcome is Outcome.UNSURE for one in verdicts if one.degraded)
            missing |= {one.degraded_by for one in verdicts}
        return missing

    def decide(self) -> CommentId:
        """Have a moderator reject a comment of Mara's and return its id."""
        comment_id = self.keep()
        decide_comment(comment_id, Ruling.REJECT, self.services, decided_by="mod")
        assert self.services.cases.get(comment_id).decision is not None
        return comment_id

    def upkeep(self) -> None:
        """Do what is done on time; a store that is away is tried next time."""
        with contextlib.suppress(StoreUnavailableError):
            rebuild_if_blank(self.services, should_continue=lambda: True)
        with contextlib.suppress(StoreUnavailableError):
            remember_open(self.services)

    def counts(self) -> tuple[int, float]:
        """Return the decisions that histories do not know of, and Mara's rejections that they do.

        Undone decisions count among the former.
        """
        asked = make_comment(sender=MARA)
        [history] = self.history.gather([asked], now=self.services.clock())
        return self.unremembered(), history.email.everywhere.rejected

    def unremembered(self) -> int:
        return len(self.services.decisions.find_unremembered(limit=1_000))

    def seen(self) -> set[bytes]:
        return set(self.client.scan_iter("*:seen:*"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "valkey").mkdir()
    return tmp_path / "valkey"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def desk(folder: Path, port: int) -> Iterator[Desk]:
    """Give a desk whose histories are filled and know of one rejection of Mara's."""
    with running_valkey(folder, port=port) as server:
        desk = Desk(server)
        desk.upkeep()
        desk.decide()
        assert desk.judge() == WELL
        assert desk.counts() == (0, 1)
        yield desk
        for one in (desk.history, desk.place, desk.client):
            one.close()


def test_a_server_that_hangs_is_waited_for_three_times_and_no_more(desk):
    os.kill(desk.server.process.pid, signal.SIGSTOP)

    missing = desk.judge(10)
    desk.decide()
    os.kill(desk.server.process.pid, signal.SIGCONT)

    assert missing == WITHOUT_HISTORY
    assert desk.history.reading.refused == 10 - FAILURES
    desk.seconds += 1
    assert desk.judge() == WELL
    desk.upkeep()
    assert desk.counts() == (0, 2)


def test_a_server_that_is_down_costs_evidence_alone_and_comes_back_with_what_it_knew(
    desk, folder, port
):
    first = desk.decide()
    desk.server.kill()

    missing = desk.judge(6)
    undo_decision(first, desk.services, undone_by="mod")
    desk.decide()
    open_meanwhile = desk.unremembered()
    with running_valkey(folder, port=port):
        desk.seconds += 1
        after = desk.judge()
        desk.upkeep()

        assert desk.counts() == (0, 2)
    assert (missing, after) == (WITHOUT_HISTORY, WELL)
    assert open_meanwhile == 2


@pytest.mark.parametrize(
    ("ends_writes", "mends"),
    [
        ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
        # A primary that was made a replica of one that is not there any more.
        ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE"),
    ],
    ids=["full", "read only"],
)
def test_a_server_that_takes_no_writes_answers_and_learns_later_what_it_could_not(
    desk, ends_writes, mends
):
    desk.client.execute_command(*ends_writes.split())

    for _ in range(5):
        desk.decide()
    missing = desk.judge(5)
    meanwhile = desk.counts()
    desk.client.execute_command(*mends.split())
    desk.seconds += 1
    desk.upkeep()

    assert meanwhile == (5, 1)
    assert missing == WELL
    assert desk.history.reading.refused == 0
    assert desk.counts() == (0, 6)


def test_a_server_that_is_nearly_full_keeps_its_room_for_decisions(desk):
    before = desk.seen()
    used = desk.client.info("memory")["used_memory"]
    desk.client.config_set("maxmemory", int(used / 0.85))

    missing = desk.judge()
    desk.decide()
    seen_meanwhile = desk.seen()
    desk.client.config_set("maxmemory", "0")
    desk.judge()

    assert missing == WELL
    assert seen_meanwhile == before
    assert desk.counts() == (0, 2)
    assert desk.seen() > before
