"""How long a line of unjudged comments may be, for the last of them to be judged in time."""

import pytest

from service.domain.comment import CommentId, SiteId
from service.web.edge.admission import Admission
from tests.factories import SITE

SECONDS = 0.6
MOST = 100


class Lane:
    """A first-in, first-out lane with a clock of its own; a check comes every 5 ms."""

    def __init__(self) -> None:
        self.admission = Admission(most=MOST)
        self.now = 1_000.0
        self.number = 0
        self.waits: list[float] = []
        self._queued: list[tuple[CommentId, float]] = []

    def offer(self, site_id: SiteId = SITE) -> bool:
        """Let one check come; return whether it joined."""
        if not self.admission.has_room(site_id, seconds=SECONDS, now=self.now):
            self.admission.keep_for_later(now=self.now)
            return False
        self.number += 1
        comment_id = CommentId(f"c{self.number}")
        self.admission.join(comment_id, site_id, seconds=SECONDS, now=self.now)
        self._queued.append((comment_id, self.now))
        return True

    def judge(self, count: int) -> None:
        """Let verdicts of the oldest arrive now."""
        batch, self._queued = self._queued[:count], self._queued[count:]
        for comment_id, joined in batch:
            self.waits.append(self.now - joined)
            self.admission.leave(comment_id, now=self.now)

    def lose(self) -> None:
        """Let what is queued vanish without a verdict."""
        self._queued.clear()

    def fill(self) -> None:
        """Let checks come until the line is full."""
        while self.offer():
            pass

    def drain(self) -> float:
        """Let checks come until one is refused; return after how long it may come again."""
        while (asked := self.refused()) is None:
            self.offer()
        return asked

    def refused(self) -> float | None:
        """Return after how many seconds a check that comes now is asked to come again."""
        return self.admission.refuse(SITE, seconds=SECONDS, now=self.now)

    def run(self, *, seconds: float, verdicts_a_second: float, checks_a_second: float) -> int:
        """Let checks come and batches be judged each 0.1 s; return how many checks joined."""
        joined = 0
        for _ in range(round(seconds / 0.1)):
            for _ in range(round(checks_a_second * 0.1)):
                self.now += 0.1 / round(checks_a_second * 0.1)
                joined += self.offer()
            self.judge(round(verdicts_a_second * 0.1))
        return joined


@pytest.fixture
def lane() -> Lane:
    return Lane()


def test_whoever_can_be_judged_in_time_joins(lane):
    joined = lane.run(seconds=5.0, verdicts_a_second=100, checks_a_second=80)

    assert joined == 400


def test_in_a_flood_as_many_join_as_are_judged_and_hardly_any_of_them_in_vain(lane):
    lane.run(seconds=5.0, verdicts_a_second=100, checks_a_second=400)
    lane.waits.clear()

    joined = lane.run(seconds=10.0, verdicts_a_second=100, checks_a_second=400)

    assert joined == pytest.approx(1_000, rel=0.05)
    assert len(lane.waits) == pytest.approx(1_000, rel=0.05)
    assert sum(wait > SECONDS for wait in lane.waits) < 10


def test_a_lane_in_which_nothing_moves_takes_one_a_second(lane):
    lane.run(seconds=2.0, verdicts_a_second=0, checks_a_second=200)

    joined = lane.run(seconds=10.0, verdicts_a_second=0, checks_a_second=200)

    assert 8 <= joined <= 11


def test_comments_that_were_lost_hold_nobody_up_for_long(lane):
    lane.run(seconds=0.5, verdicts_a_second=0, checks_a_second=100)
    lane.lose()

    lane.run(seconds=2.5, verdicts_a_second=400, checks_a_second=100)
    joined = lane.run(seconds=5.0, verdicts_a_second=400, checks_a_second=100)

    assert joined == 500


def test_what_is_never_judged_is_not_looked_for_for_ever(lane):
    lane.offer()

    assert lane.admission.unjudged(now=lane.now + 30) == ["c1"]
    assert lane.admission.unjudged(now=lane.now + 90) == []


def test_whoever_has_no_room_is_kept_for_later_until_that_is_too_much_and_verdicts_come(lane):
    lane.run(seconds=1.0, verdicts_a_second=100, checks_a_second=140)
    lane.fill()
    assert lane.refused() is None

    lane.run(seconds=20.0, verdicts_a_second=100, checks_a_second=400)
    assert lane.drain() == pytest.approx(1.0)

    lane.run(seconds=2.0, verdicts_a_second=100, checks_a_second=80)
    lane.fill()
    assert lane.refused() is None


def test_the_more_are_refused_the_later_they_are_asked_to_come_again(lane):
    lane.run(seconds=20.0, verdicts_a_second=100, checks_a_second=400)
    lane.drain()

    asked = [lane.refused() for _ in range(2_000)]

    assert asked == sorted(asked)
    assert asked[-1] == pytest.approx(2_000 / 100, rel=0.2)


def test_a_site_that_floods_leaves_room_to_others(lane):
    other = SiteId("other")
    lane.offer(other)
    lane.run(seconds=10.0, verdicts_a_second=100, checks_a_second=400)

    lane.run(seconds=0.1, verdicts_a_second=0, checks_a_second=400)
    joined = [lane.offer(site) for site in (SITE, other)]

    assert joined == [False, True]


def test_a_line_is_full_beyond_what_is_judged_in_time_once_no_more_is_kept_for_later(lane):
    def is_full(unjoined: int) -> bool:
        return lane.admission.is_full(unjoined, now=lane.now)

    assert not is_full(1_000)

    lane.run(seconds=20.0, verdicts_a_second=100, checks_a_second=400)
    lane.drain()

    assert is_full(0)
    lane.judge(5)
    assert not is_full(0)
    assert is_full(60)


def test_a_line_that_stands_still_is_full_until_one_may_show_that_it_moves(lane):
    lane.run(seconds=20.0, verdicts_a_second=100, checks_a_second=400)
    lane.now += 0.7
    lane.drain()

    assert lane.admission.is_full(0, now=lane.now)
    lane.now += 0.6
    assert not lane.admission.is_full(0, now=lane.now)
    assert lane.offer()


def test_while_nothing_is_judged_comments_are_kept_for_later_by_the_last_rate(lane):
    lane.run(seconds=20.0, verdicts_a_second=100, checks_a_second=400)
    lane.now += 0.7
    lane.drain()

    lane.now += 10.0
    before = lane.number
    kept = 0
    while lane.refused() is None:
        kept += not lane.offer()

    assert lane.number == before + 1
    assert kept == pytest.approx(0.05 * 100 * 10, abs=5)
