"""Waiting for verdicts with one look for everybody."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Mode
from service.domain.errors import StoreUnavailableError
from service.web.edge.verdict_waiter import VerdictWaiter
from tests.commands import until
from tests.factories import SITE, make_comment, make_verdict


def judged(comment_id: str) -> Case:
    comment = make_comment(id=CommentId(comment_id))
    return Case(comment=comment, mode=Mode.HOLD, verdict=make_verdict(comment.id))


class Looks:
    """Finds what has been judged so far, and remembers what it was asked."""

    def __init__(self) -> None:
        self.judged: set[str] = set()
        self.asked: list[tuple[str, ...]] = []
        self.threads: set[int] = set()
        self.error: Exception | None = None

    def __call__(self, ids):
        self.asked.append(tuple(ids))
        self.threads.add(threading.get_ident())
        if self.error is not None:
            raise self.error
        return [judged(comment_id) for comment_id in ids if comment_id in self.judged]


@pytest.fixture
def looks() -> Looks:
    return Looks()


def test_many_that_wait_are_looked_for_together(looks):
    waiting = VerdictWaiter(looks, max_waiting=20)
    ids = [f"c{n}" for n in range(20)]

    with ThreadPoolExecutor(20) as crowd:
        answers = [crowd.submit(waiting.for_verdict, CommentId(i), seconds=10) for i in ids]
        until(lambda: looks.asked and len(looks.asked[-1]) == 20)
        looks.judged = set(ids)
        cases = [answer.result() for answer in answers]

    assert [case.comment.id for case in cases] == ids
    assert len(looks.threads) == 1


def test_one_more_than_may_wait_is_sent_away_at_once_and_joins_no_line(looks):
    waiting = VerdictWaiter(looks, max_waiting=1)

    with ThreadPoolExecutor(1) as first:
        patient = first.submit(waiting.for_verdict, CommentId("c1"), seconds=10)
        until(lambda: waiting._waiting == 1)
        joined = waiting.join(CommentId("c2"), SITE, seconds=10)
        sent_away = waiting.for_verdict(CommentId("c2"), seconds=10)
        looks.judged = {"c1"}

    assert (joined, sent_away) == (False, None)
    assert patient.result() is not None


@pytest.mark.parametrize("error", [StoreUnavailableError("away"), RuntimeError("poison")])
def test_a_look_that_fails_is_tried_again(looks, error):
    looks.error = error
    waiting = VerdictWaiter(looks, max_waiting=1)

    with ThreadPoolExecutor(1) as crowd:
        answer = crowd.submit(waiting.for_verdict, CommentId("c1"), seconds=10)
        until(lambda: len(looks.asked) > 2)
        looks.judged, looks.error = {"c1"}, None

    assert answer.result() is not None


def test_a_thread_that_cannot_be_started_sends_one_away_and_not_all_who_come_later(
    looks, monkeypatch
):
    start, refusals = threading.Thread.start, [RuntimeError("can't start new thread")]

    def refuse_once(thread):
        if thread.name == "verdicts" and refusals:
            raise refusals.pop()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse_once)
    waiting = VerdictWaiter(looks, max_waiting=1)
    looks.judged = {"c1"}

    sent_away = waiting.for_verdict(CommentId("c1"), seconds=10)
    case = waiting.for_verdict(CommentId("c1"), seconds=10)

    assert sent_away is None
    assert case.comment.id == "c1"


def test_while_nobody_waits_a_look_that_fails_is_the_last(looks):
    looks.error = StoreUnavailableError("away")
    waiting = VerdictWaiter(looks, max_waiting=1)

    waiting.join(CommentId("c1"), SITE, seconds=0.6)

    until(lambda: waiting._looker is None)
    assert waiting._admission.unjudged(now=0.0) == ["c1"]


def test_a_verdict_that_nobody_waits_for_any_more_moves_the_line_too(looks, seconds):
    waiting = VerdictWaiter(looks, max_waiting=4, monotonic=seconds)
    waiting.join(CommentId("late"), SITE, seconds=0.6)
    waiting.for_verdict(CommentId("late"), seconds=0.01)
    seconds.now = 0.7
    before = waiting.join(CommentId("c2"), SITE, seconds=0.6)

    looks.judged = {"late"}
    until(lambda: waiting._looker is None)

    assert not before
    assert waiting.join(CommentId("c2"), SITE, seconds=0.6)


def test_a_comment_that_was_not_queued_after_all_is_in_nobodys_way(looks, seconds):
    waiting = VerdictWaiter(looks, max_waiting=4, monotonic=seconds)
    waiting.join(CommentId("c1"), SITE, seconds=0.6)
    seconds.now = 0.7

    waiting.leave(CommentId("c1"))

    assert waiting.join(CommentId("c2"), SITE, seconds=0.6)
