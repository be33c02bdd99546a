"""Histories that were lost: what verdicts say meanwhile, and how they are filled again."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from service.domain.comment import Lane, Sender
from service.domain.decision import Ruling
from service.domain.sender import History
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.remembering import (
    rebuild_all,
    rebuild_if_blank,
    rebuild_portions,
    remember_open,
)
from tests.factories import make_comment
from tests.fakes import Overridden, make_services, submit_to
from tests.in_memory import MemoryHistoryStore

PEOPLE = 7


def sent_by(number: int, **changes):
    return make_comment(sender=Sender(address_key=f"a{number}", email_key=f"e{number}"), **changes)


def submit(services, comment):
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    return comment


@pytest.fixture
def services():
    """Give services where each of some people had a comment rejected or approved."""
    services = make_services()
    for number in range(PEOPLE):
        comment = submit(services, sent_by(number))
        ruling = Ruling.REJECT if number % 2 else Ruling.APPROVE
        decide_comment(comment.id, ruling, services, decided_by="mod")
        services.clock.advance(days=1)
    return services


def wiped(services):
    """Return the services after their histories' server lost everything."""
    services.rebuild_place.wipe()
    return replace(services, history=MemoryHistoryStore())


def decided_of_all(services) -> list[tuple[float, float]]:
    """Return what histories know of each person: approved, rejected."""
    asked = [sent_by(number) for number in range(PEOPLE)]
    histories = services.history.gather(asked, now=services.clock())
    return [_counts(history) for history in histories]


def _counts(history: History) -> tuple[float, float]:
    return history.email.everywhere.approved, history.email.everywhere.rejected


def verdict_on_next(services):
    comment = sent_by(1)
    services.queue.services = services
    submit(services, comment)
    return services.cases.get(comment.id).verdict


def test_a_rebuild_brings_back_exactly_what_was_lost(services):
    before = decided_of_all(services)
    lost = wiped(services)

    done = rebuild_all(lost)

    assert done == PEOPLE
    assert decided_of_all(lost) == before
    assert not lost.history.is_blank()


def test_a_wipe_in_the_middle_of_a_rebuild_makes_it_begin_anew(services):
    before = decided_of_all(services)
    first = wiped(services)
    next(rebuild_portions(first))
    second = wiped(services)

    done = rebuild_all(second)

    assert done == PEOPLE
    assert decided_of_all(second) == before


def test_a_wipe_at_the_very_end_is_not_taken_for_filled(services):
    lost = wiped(services)
    wipes = [lost.rebuild_place.wipe]

    def find_in_force(**asked):
        page = lost.decisions.find_in_force(**asked)
        if page.next_after is None and wipes:
            wipes.pop()()
        return page

    decisions = Overridden(lost.decisions, find_in_force=find_in_force)
    shaken = replace(lost, decisions=decisions)

    portions = list(islice(rebuild_portions(shaken), 2))
    blank = lost.history.is_blank()
    done = rebuild_all(shaken)

    assert portions == [PEOPLE, 0]
    assert blank
    assert done == PEOPLE


def test_of_two_that_rebuild_at_once_neither_counts_a_decision_twice(services):
    before = decided_of_all(services)
    lost = wiped(services)

    for _ in range(3):
        next(rebuild_portions(lost), None)
        rebuild_if_blank(lost, goes_on=lambda: True)

    assert decided_of_all(lost) == before
    assert not lost.history.is_blank()


def test_a_verdict_without_the_histories_that_were_lost_is_degraded_until_they_are_filled(services):
    lost = wiped(services)
    verdicts = [verdict_on_next(lost)]
    next(rebuild_portions(lost))
    verdicts.append(verdict_on_next(lost))
    rebuild_if_blank(lost, goes_on=lambda: True)
    verdicts.append(verdict_on_next(lost))

    assert [verdict.degraded_by for verdict in verdicts] == [("history",), ("history",), ()]


def test_a_new_installation_is_not_degraded_before_or_after_its_first_look(services):
    new = make_services(history=MemoryHistoryStore())
    verdicts = [verdict_on_next(new)]
    was_blank = [
        rebuild_if_blank(new, goes_on=lambda: True),
        rebuild_if_blank(new, goes_on=lambda: True),
    ]
    comment = submit(new, sent_by(1))
    decide_comment(comment.id, Ruling.REJECT, new, decided_by="mod")
    verdicts.append(verdict_on_next(new))

    assert was_blank == [True, False]
    assert [verdict.degraded for verdict in verdicts] == [False, False]


def test_a_worker_ends_its_run_after_a_portion_when_its_time_is_over(services):
    lost = wiped(services)

    was_blank = [rebuild_if_blank(lost, goes_on=lambda: False) for _ in range(3)]

    assert was_blank == [True, True, False]


def test_a_decision_undone_while_the_rebuild_reads_it_stays_undone(services):
    before = decided_of_all(services)
    comment = submit(services, sent_by(3))
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    lost = wiped(services)
    undone = []

    def find_in_force(**asked):
        page = lost.decisions.find_in_force(**asked)
        if not undone:
            undone.append(undo_decision(comment.id, lost, undone_by="mod"))
        return page

    decisions = Overridden(lost.decisions, find_in_force=find_in_force)
    reading = replace(lost, decisions=decisions)
    rebuild_all(reading)
    remember_open(lost)

    assert undone
    assert decided_of_all(lost) == before
