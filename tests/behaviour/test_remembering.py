"""What histories are told: every decision and every undoing, whatever happens in between."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.comment import Lane
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.sender import Record, make_sender
from service.moderation.decisions import decide_comment
from service.moderation.remembering import remember_open
from tests.factories import make_comment
from tests.fakes import make_services, submit_to
from tests.in_memory import MemoryHistoryStore

SENDER = make_sender(address="192.0.2.7", email="mara@example.org", secret=b"s")


@pytest.fixture
def services():
    return make_services()


def keep(services, **changes):
    comment = make_comment(**({"sender": SENDER} | changes))
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    return comment


def remembered(services) -> tuple[float, float]:
    """Return how many decisions histories know of Mara's address: approved, rejected."""
    (history,) = services.history.gather([make_comment(sender=SENDER)], now=services.clock())
    record: Record = history.address.everywhere
    return record.approved, record.rejected


def open_ones(services) -> list[str]:
    return [one.decision.id for one in services.decisions.find_unremembered(limit=9)]


def test_a_changed_mind_while_histories_are_away_is_all_they_know_afterwards(services):
    comment = keep(services)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    services.history.available = False
    for ruling in (Ruling.APPROVE, Ruling.REJECT, Ruling.APPROVE):
        decide_comment(comment.id, ruling, services, decided_by="mod")
    services.history.available = True

    remember_open(services)

    assert remembered(services) == (1, 0)
    assert open_ones(services) == []


def test_what_was_told_before_histories_went_away_again_is_not_told_twice(services):
    comments = [keep(services) for _ in range(3)]
    services.history.available = False
    for comment in comments:
        decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    services.history.available = True
    tired = TiredHistory(services.history, answers=2)

    with pytest.raises(StoreUnavailableError):
        remember_open(replace(services, history=tired))

    assert len(open_ones(services)) == 1
    assert remembered(services) == (0, 2)


def test_a_decision_is_learnt_at_the_time_it_was_made(services):
    comment = keep(services)
    decided_at = services.clock()
    services.history.available = False
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    services.history.available = True
    services.clock.advance(days=100)
    recording = TiredHistory(services.history, answers=9)

    remember_open(replace(services, history=recording))

    assert recording.times == [decided_at]


class TiredHistory:
    """A history store that goes away after some answers, and notes the times it is told."""

    def __init__(self, store, *, answers: int) -> None:
        self.store = store
        self.answers = answers
        self.times = []

    def learn(self, decision_id, comment, ruling, *, at):
        if len(self.times) == self.answers:
            raise StoreUnavailableError("away again")
        self.times.append(at)
        return self.store.learn(decision_id, comment, ruling, at=at)


class PickyHistory:
    """A history store that one comment provokes to raise what nobody expects."""

    def __init__(self, store: MemoryHistoryStore, poison: str) -> None:
        self._store, self._poison = store, poison

    def learn(self, decision_id, comment, ruling, *, at):
        if comment.id == self._poison:
            raise ValueError("unexpected")
        return self._store.learn(decision_id, comment, ruling, at=at)


def test_a_decision_that_cannot_be_learnt_keeps_no_other_from_it(services):
    services.history.available = False
    first, second = keep(services), keep(services)
    for comment in (first, second):
        decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    services.history.available = True
    picky = PickyHistory(services.history, poison=first.id)

    told = remember_open(replace(services, history=picky))

    assert told == 1
    assert len(open_ones(services)) == 1
