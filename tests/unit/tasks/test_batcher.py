"""How ids are gathered into batches, and what becomes of them when judging fails."""

import pytest

from service.domain.comment import Lane
from service.domain.errors import StoreUnavailableError
from service.tasks.batcher import RETRY_SECONDS, Batcher, LanePlan
from service.tasks.broker import VISIBILITY_TIMEOUT_SECONDS
from service.tasks.celery_app import lane_plans

PLANS = {
    Lane.INTERACTIVE: LanePlan(batch_size=4, wait_seconds=0.01),
    Lane.BULK: LanePlan(batch_size=4, wait_seconds=0.05),
}


class Loop:
    """An event loop whose time is moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits = []
        self._due = []

    def call_after(self, seconds, function):
        self.waits.append(seconds)
        self._due.append((self.now + seconds, len(self._due), function))

    def advance(self, seconds):
        end = self.now + seconds
        while due := [entry for entry in self._due if entry[0] <= end]:
            entry = min(due)
            self._due.remove(entry)
            self.now = max(self.now, entry[0])
            entry[2]()
        self.now = end


class Message:
    def __init__(self) -> None:
        self.acknowledged = 0

    def ack(self) -> None:
        self.acknowledged += 1


class BrokenMessage(Message):
    def ack(self) -> None:
        raise ConnectionError


class Judge:
    """Remembers its batches; raises what is laid ready first."""

    def __init__(self) -> None:
        self.batches = []
        self.raises = []

    def __call__(self, ids):
        if self.raises:
            raise self.raises.pop(0)
        self.batches.append(list(ids))


@pytest.fixture
def loop():
    return Loop()


@pytest.fixture
def judge():
    return Judge()


@pytest.fixture
def batcher(loop, judge):
    return Batcher(judge, PLANS, call_after=loop.call_after)


def receive(batcher, *ids, lane=Lane.BULK):
    messages = [Message() for _ in ids]
    for comment_id, message in zip(ids, messages, strict=True):
        batcher.receive(lane, comment_id, message)
    return messages


def test_a_batch_that_does_not_fill_is_judged_after_its_lanes_wait(batcher, judge, loop):
    receive(batcher, "a")
    loop.advance(0.04)
    early = list(judge.batches)

    loop.advance(0.02)

    assert early == []
    assert judge.batches == [["a"]]


def test_after_a_full_batch_the_next_one_waits_longer_and_then_not_any_more(judge, loop):
    plan = LanePlan(batch_size=64, wait_seconds=0.01, rush_size=4, rush_wait_seconds=0.04)
    batcher = Batcher(judge, {Lane.BULK: plan}, call_after=loop.call_after)

    for count in (4, 1, 3, 5, 1):
        receive(batcher, *map(str, range(count)))
        loop.advance(0.05)

    assert loop.waits == [0.01, 0.04, 0.01, 0.01, 0.04]


def test_a_full_bulk_batch_lets_waiting_people_go_first(batcher, judge):
    receive(batcher, "i1", lane=Lane.INTERACTIVE)

    receive(batcher, "b1", "b2", "b3", "b4")

    assert judge.batches == [["i1"], ["b1", "b2", "b3", "b4"]]


@pytest.mark.parametrize(
    ("times", "judged"),
    [(len(RETRY_SECONDS), [["a", "b", "c", "d"]]), (len(RETRY_SECONDS) + 1, [])],
    ids=["tried again", "left to the sweep"],
)
def test_a_batch_is_kept_while_stores_are_away_but_not_for_ever(
    batcher, judge, loop, times, judged
):
    judge.raises = [StoreUnavailableError("away")] * times
    messages = receive(batcher, "a", "b", "c", "d")
    unjudged = list(judge.batches)

    loop.advance(sum(RETRY_SECONDS))

    assert unjudged == []
    assert judge.batches == judged
    assert [m.acknowledged for m in messages] == [1, 1, 1, 1]
    assert not any(batcher._waiting.values())


def test_later_ids_wait_behind_a_batch_whose_stores_are_away(batcher, judge, loop):
    judge.raises = [StoreUnavailableError("away")]
    receive(batcher, "a", "b", "c", "d")
    receive(batcher, "e", "f", "g", "h", "i", lane=Lane.INTERACTIVE)

    loop.advance(RETRY_SECONDS[0])

    assert judge.batches == [["e", "f", "g", "h"], ["i"], ["a", "b", "c", "d"]]
    assert not any(batcher._waiting.values())


def test_retries_are_over_well_before_the_broker_delivers_again():
    slowest_batch_seconds = 10

    assert sum(RETRY_SECONDS) + slowest_batch_seconds < VISIBILITY_TIMEOUT_SECONDS / 2


def test_an_acknowledgement_that_fails_stops_nothing(batcher, judge):
    batcher.receive(Lane.BULK, "a", BrokenMessage())
    receive(batcher, "b", "c", "d")

    receive(batcher, "e", "f", "g", "h")

    assert judge.batches == [["a", "b", "c", "d"], ["e", "f", "g", "h"]]


@pytest.mark.parametrize("is_paused", [False, True])
def test_ids_live_on_when_the_connection_that_brought_them_is_lost(batcher, judge, is_paused):
    judge.raises = [StoreUnavailableError("away")] * is_paused
    bulk = ["a", "b", "c", "d"] if is_paused else ["a", "b"]
    messages = receive(batcher, *bulk)
    messages += receive(batcher, "i", lane=Lane.INTERACTIVE)
    new_loop = Loop()

    batcher.forget_messages(new_loop.call_after)
    new_loop.advance(0.01)

    assert sorted(judge.batches) == [bulk, ["i"]]
    assert {m.acknowledged for m in messages} == {0}


def test_an_unforeseen_error_costs_one_comment_and_neither_its_neighbours_nor_the_worker(loop):
    judged = []

    def judge(ids):
        if "b" in ids:
            raise RuntimeError(ids)
        judged.extend(ids)

    batcher = Batcher(judge, PLANS, call_after=loop.call_after)
    messages = receive(batcher, "a", "b", "c", "d")

    receive(batcher, "e", "f", "g", "h")

    assert judged == ["a", "c", "d", "e", "f", "g", "h"]
    assert [m.acknowledged for m in messages] == [1, 1, 1, 1]


class SlowJudge(Judge):
    """Takes a tenth of a second for each id, and so much for a batch."""

    def __init__(self, loop, *, fixed=0.0, each=0.1) -> None:
        super().__init__()
        self._loop = loop
        self._fixed, self._each = fixed, each
        self.spent = 0.0

    def __call__(self, ids):
        super().__call__(ids)
        self.spent += self.seconds(len(ids))

    def seconds(self, count):
        return self._fixed + self._each * count

    def clock(self):
        return self._loop.now + self.spent


def make_slow(loop, judge, *, longest_seconds=0.5, **bulk) -> Batcher:
    slow = {"batch_size": 32, "longest_seconds": longest_seconds}
    plans = {
        Lane.INTERACTIVE: LanePlan(wait_seconds=0.01, **slow),
        Lane.BULK: LanePlan(wait_seconds=0.05, **slow, **bulk),
    }
    return Batcher(judge, plans, call_after=loop.call_after, monotonic=judge.clock)


def make_served(loop, judge) -> Batcher:
    """Return a batcher of the lanes as they are served."""
    return Batcher(judge, lane_plans(), call_after=loop.call_after, monotonic=judge.clock)


def keep_full(batcher, judge, *, batches, lane, loop) -> list[int]:
    """Let twice a batch wait in a lane all the time; return how large each batch was."""
    number = 0
    until = len(judge.batches) + batches
    before = len(judge.batches)
    while len(judge.batches) < until:
        number += 1
        receive(batcher, f"{lane.value}{number}", lane=lane)
        if len(batcher._waiting[lane]) >= 128:
            loop.advance(0.1)
    return [len(batch) for batch in judge.batches[before:until]]


# What is left in a lane at the end is judged alone.
@pytest.mark.parametrize(("longest_seconds", "least", "most"), [(0.5, 1, 5), (0.001, 4, 4)])
def test_a_batch_holds_what_can_be_judged_in_its_longest_time_and_never_too_little_to_pay(
    loop, longest_seconds, least, most
):
    judge = SlowJudge(loop)
    batcher = make_slow(loop, judge, longest_seconds=longest_seconds)

    sizes = keep_full(batcher, judge, batches=30, lane=Lane.BULK, loop=loop)

    assert (min(sizes[5:]), max(sizes[5:])) == (least, most)


def test_a_batch_grows_with_its_fixed_cost_and_shrinks_again(loop):
    judge = SlowJudge(loop, fixed=0.005, each=0.006)
    batcher = make_served(loop, judge)
    quick = keep_full(batcher, judge, batches=30, lane=Lane.INTERACTIVE, loop=loop)
    judge._fixed = 0.2

    busy = keep_full(batcher, judge, batches=90, lane=Lane.INTERACTIVE, loop=loop)
    judge._fixed = 0.005
    again = keep_full(batcher, judge, batches=90, lane=Lane.INTERACTIVE, loop=loop)

    assert max(quick[20:]) <= 20
    assert min(busy[60:]) >= 32
    assert max(again[60:]) <= 20


def test_while_people_are_about_no_bulk_batch_is_longer_than_one_of_theirs(loop):
    judge = SlowJudge(loop, fixed=0.03, each=0.01)
    batcher = make_served(loop, judge)
    alone = keep_full(batcher, judge, batches=30, lane=Lane.BULK, loop=loop)
    receive(batcher, "i", lane=Lane.INTERACTIVE)
    loop.advance(1.0)

    beside = keep_full(batcher, judge, batches=10, lane=Lane.BULK, loop=loop)
    loop.advance(60.0)
    alone_again = keep_full(batcher, judge, batches=10, lane=Lane.BULK, loop=loop)

    assert max(judge.seconds(size) for size in beside) <= 0.03 * 6 + 0.01
    assert max(alone[10:]) > 2 * max(beside)
    assert max(alone_again) > 2 * max(beside)


def test_bulk_gives_way_while_people_wait_and_still_moves(loop):
    judge = SlowJudge(loop)
    batcher = make_slow(loop, judge, gives_way_seconds=2.0)
    receive(batcher, *(f"b{n}" for n in range(60)))
    began = judge.clock()

    for n in range(80):
        receive(batcher, f"i{n}", lane=Lane.INTERACTIVE)
        loop.advance(0.05)

    bulk = [batch for batch in judge.batches[1:] if batch[0].startswith("b")]
    interactive = [batch for batch in judge.batches if batch[0].startswith("i")]
    assert sum(map(len, interactive)) == 80
    assert 1 <= len(bulk) <= (judge.clock() - began) / 1.0 + 1
    assert all(len(batch) <= 6 for batch in bulk)


def test_bulk_that_gave_way_goes_on_when_nobody_waits_any_more(loop):
    judge = SlowJudge(loop)
    batcher = make_slow(loop, judge, gives_way_seconds=2.0)
    receive(batcher, *(f"b{n}" for n in range(40)))
    receive(batcher, "i", lane=Lane.INTERACTIVE)
    loop.advance(0.02)

    loop.advance(5.0)

    assert not any(batcher._waiting.values())
    judged = [comment_id for batch in judge.batches for comment_id in batch]
    assert sorted(judged) == sorted(["i", *(f"b{n}" for n in range(40))])
