"""What histories are told of decisions, whatever happens, and how they are filled again."""

from dataclasses import replace
from itertools import islice

import pytest

from service.domain.comment import CommentId, Lane, Sender
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.sender import Record, SenderSecrets, make_sender
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.remembering import (
    rebuild_all,
    rebuild_if_blank,
    rebuild_portions,
    remember_open,
)
from tests.factories import make_comment
from tests.fakes import Overridden, away, make_services, submit_one
from tests.in_memory import MemoryHistoryStore

SECRETS = SenderSecrets(present=b"s")
SENDER = make_sender(address="192.0.2.7", email="mara@example.org", secrets=SECRETS)


def keep(services, **changes):
    return submit_one(services, lane=Lane.INTERACTIVE, **({"sender": SENDER} | changes))


def remembered(services) -> tuple[float, float]:
    """Return the numbers of approvals and rejections in the history of Mara's address."""
    (history,) = services.history.gather([make_comment(sender=SENDER)], now=services.clock())
    record: Record = history.address.everywhere
    return record.approved, record.rejected


def open_ones(services) -> list[str]:
    return [one.decision.id for one in services.decisions.find_unremembered(limit=9)]


def rule_while_away(services, *rulings: tuple[CommentId, Ruling]) -> None:
    services.history.available = False
    for comment_id, ruling in rulings:
        decide_comment(comment_id, ruling, services, decided_by="mod")
    services.history.available = True


def test_a_changed_mind_while_histories_are_away_is_all_they_know_afterwards(services):
    comment = keep(services)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    changes = (Ruling.APPROVE, Ruling.REJECT, Ruling.APPROVE)
    rule_while_away(services, *((comment.id, ruling) for ruling in changes))

    remember_open(services)

    assert remembered(services) == (1, 0)
    assert open_ones(services) == []


def test_what_was_told_before_histories_went_away_again_is_not_told_twice(services):
    rule_while_away(services, *((keep(services).id, Ruling.REJECT) for _ in range(3)))
    answers = [services.history.learn] * 2 + [away]
    tired = Overridden(
        services.history, learn=lambda *given, **named: answers.pop(0)(*given, **named)
    )

    with pytest.raises(StoreUnavailableError):
        remember_open(replace(services, history=tired))

    assert len(open_ones(services)) == 1
    assert remembered(services) == (0, 2)


def test_a_decision_that_cannot_be_learnt_keeps_no_other_from_it(services):
    first, second = keep(services), keep(services)
    rule_while_away(services, (first.id, Ruling.REJECT), (second.id, Ruling.REJECT))

    def learn(decision_id, comment, ruling, *, at):
        if comment.id == first.id:
            raise ValueError("unexpected")
        return services.history.learn(decision_id, comment, ruling, at=at)

    picky = Overridden(services.history, learn=learn)

    told = remember_open(replace(services, history=picky))

    assert told == 1
    assert len(open_ones(services)) == 1


PEOPLE = 7


def sender_of(number: int) -> Sender:
    return Sender(address_key=f"a{number}", email_key=f"e{number}")


@pytest.fixture
def decided():
    """Give decided where each of some people had a comment rejected or approved."""
    decided = make_services()
    for number in range(PEOPLE):
        comment = keep(decided, sender=sender_of(number))
        ruling = Ruling.REJECT if number % 2 else Ruling.APPROVE
        decide_comment(comment.id, ruling, decided, decided_by="mod")
        decided.clock.advance(days=1)
    return decided


def wiped(decided):
    """Return the decided after their histories' server lost everything."""
    decided.rebuild_place.wipe()
    return replace(decided, history=MemoryHistoryStore())


def meanwhile(lost, act, *, last_page=False):
    """Return services with which this happens once, just after decisions are read."""
    acts = [act]

    def find_in_force(**asked):
        page = lost.decisions.find_in_force(**asked)
        if acts and (page.next_cursor is None or not last_page):
            acts.pop()()
        return page

    decisions = Overridden(lost.decisions, find_in_force=find_in_force)
    return replace(lost, decisions=decisions)


def decided_of_all(decided) -> list[tuple[float, float]]:
    """Return the numbers of approvals and rejections in each person's history."""
    asked = [make_comment(sender=sender_of(number)) for number in range(PEOPLE)]
    histories = decided.history.gather(asked, now=decided.clock())
    found = [history.email.everywhere for history in histories]
    return [(record.approved, record.rejected) for record in found]


def verdict_on_next(decided):
    decided.queue.services = decided
    return decided.cases.get(keep(decided, sender=sender_of(1)).id).verdict


def test_a_rebuild_brings_back_exactly_what_was_lost(decided):
    before = decided_of_all(decided)
    lost = wiped(decided)

    done = rebuild_all(lost)

    assert done == PEOPLE
    assert decided_of_all(lost) == before
    assert not lost.history.is_blank()


def test_a_wipe_in_the_middle_of_a_rebuild_makes_it_begin_anew(decided):
    before = decided_of_all(decided)
    first = wiped(decided)
    next(rebuild_portions(first))
    second = wiped(decided)

    done = rebuild_all(second)

    assert done == PEOPLE
    assert decided_of_all(second) == before


def test_a_wipe_at_the_very_end_is_not_taken_for_filled(decided):
    lost = wiped(decided)
    shaken = meanwhile(lost, lost.rebuild_place.wipe, last_page=True)

    portions = list(islice(rebuild_portions(shaken), 2))
    blank = lost.history.is_blank()
    done = rebuild_all(shaken)

    assert portions == [PEOPLE, 0]
    assert blank
    assert done == PEOPLE


def test_of_two_that_rebuild_at_once_neither_counts_a_decision_twice(decided):
    before = decided_of_all(decided)
    lost = wiped(decided)

    for _ in range(3):
        next(rebuild_portions(lost), None)
        rebuild_if_blank(lost, should_continue=lambda: True)

    assert decided_of_all(lost) == before
    assert not lost.history.is_blank()


def test_a_verdict_without_the_histories_that_were_lost_is_degraded_until_they_are_filled(decided):
    lost = wiped(decided)
    verdicts = [verdict_on_next(lost)]
    next(rebuild_portions(lost))
    verdicts.append(verdict_on_next(lost))
    rebuild_if_blank(lost, should_continue=lambda: True)
    verdicts.append(verdict_on_next(lost))

    assert [verdict.degraded_by for verdict in verdicts] == [("history",), ("history",), ()]


def test_a_new_installation_is_not_degraded_before_or_after_its_first_look(decided):
    new = make_services(history=MemoryHistoryStore())
    verdicts = [verdict_on_next(new)]
    was_blank = [
        rebuild_if_blank(new, should_continue=lambda: True),
        rebuild_if_blank(new, should_continue=lambda: True),
    ]
    comment = keep(new, sender=sender_of(1))
    decide_comment(comment.id, Ruling.REJECT, new, decided_by="mod")
    verdicts.append(verdict_on_next(new))

    assert was_blank == [True, False]
    assert [verdict.degraded for verdict in verdicts] == [False, False]


def test_a_worker_ends_its_run_after_a_portion_when_its_time_is_over(decided):
    lost = wiped(decided)

    was_blank = [rebuild_if_blank(lost, should_continue=lambda: False) for _ in range(3)]

    assert was_blank == [True, True, False]


def test_a_decision_undone_while_the_rebuild_reads_it_stays_undone(decided):
    before = decided_of_all(decided)
    comment = keep(decided, sender=sender_of(3))
    decide_comment(comment.id, Ruling.REJECT, decided, decided_by="mod")
    lost = wiped(decided)
    rebuild_all(meanwhile(lost, lambda: undo_decision(comment.id, lost, undone_by="mod")))
    remember_open(lost)

    assert lost.cases.get(comment.id).decision is None
    assert decided_of_all(lost) == before
