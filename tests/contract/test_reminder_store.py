"""Holds every reminder store to its contract."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

from service.domain.reminder import TEST, Channel, Reminder, ReminderState
from tests.factories import NOW

MINUTE = timedelta(minutes=1)


def reminder(name: str = "rem_1", **changes) -> Reminder:
    values = {
        "id": name,
        "channel": Channel.MAIL,
        "user_id": "u1",
        "occasion": "20>4h",
        "created_at": NOW,
        "next_try_at": NOW,
    }
    return Reminder(**(values | changes))


def take(stores, *, minutes: float = 0, occasion: str | None = None) -> list[Reminder]:
    now = NOW + minutes * MINUTE
    return stores.reminders.take_due(now, until=now + MINUTE, occasion=occasion)


def test_a_reminder_comes_back_as_it_was_kept(stores):
    one = reminder(
        state=ReminderState.GIVEN_UP, attempts=3, ended_at=NOW, problem="p\x00", over_at=NOW
    )

    assert stores.reminders.add(one)

    assert stores.reminders.recent(limit=9) == [one]
    assert stores.reminders.newest_of("u1") == one
    assert stores.reminders.newest_of(None) is None


def test_one_crossing_is_kept_once_for_each_recipient_whoever_is_quick(stores):
    with ThreadPoolExecutor(4) as pool:
        kept = list(pool.map(lambda n: stores.reminders.add(reminder(f"rem_{n}")), range(8)))
    others = [
        reminder("rem_a", user_id=None, channel=Channel.ROOM),
        reminder("rem_b", user_id="u2"),
        reminder("rem_c", occasion="1>24h"),
    ]

    assert sum(kept) == 1
    assert all(stores.reminders.add(one) for one in others)
    assert not stores.reminders.add(replace(others[0], id="rem_d"))
    assert len(stores.reminders.in_force()) == 4


def test_a_crossing_that_ended_may_be_told_anew(stores):
    stores.reminders.add(reminder())
    stores.reminders.end_crossings(["rem_1", "unknown"], at=NOW + MINUTE)

    assert stores.reminders.add(reminder("rem_2", created_at=NOW + MINUTE))

    first = stores.reminders.recent(limit=9)[1]
    assert (first.state, first.over_at, first.ended_at) == (
        ReminderState.OVER,
        NOW + MINUTE,
        NOW + MINUTE,
    )
    assert take(stores, minutes=2)[0].id == "rem_2"


def test_what_is_taken_is_nobody_elses(stores):
    stores.reminders.add(reminder())
    stores.reminders.add(reminder("rem_2", occasion=TEST, next_try_at=NOW + MINUTE))

    with ThreadPoolExecutor(4) as pool:
        taken = [one for some in pool.map(lambda _: take(stores), range(4)) for one in some]

    assert [(one.id, one.state, one.attempts) for one in taken] == [
        ("rem_1", ReminderState.SENDING, 1)
    ]


def test_only_those_of_an_occasion_are_taken_where_that_is_asked(stores):
    stores.reminders.add(reminder())
    stores.reminders.add(reminder("rem_2", occasion=TEST))

    assert [one.id for one in take(stores, occasion=TEST)] == ["rem_2"]


def test_what_was_cut_off_while_it_was_sent_is_never_sent_again(stores):
    stores.reminders.add(reminder())
    take(stores)

    early = stores.reminders.end_lost(NOW, problem="cut off")
    lost = stores.reminders.end_lost(NOW + 2 * MINUTE, problem="cut off")

    assert (early, lost) == (0, 1)
    assert take(stores, minutes=9) == []
    (one,) = stores.reminders.in_force()
    assert (one.state, one.problem) == (ReminderState.UNCERTAIN, "cut off")


def test_what_failed_is_taken_again_at_its_time(stores):
    stores.reminders.add(reminder())
    take(stores)

    stores.reminders.record(
        "rem_1", state=ReminderState.WAITING, at=NOW, problem="down", next_try_at=NOW + MINUTE
    )

    assert take(stores) == []
    (again,) = take(stores, minutes=1)
    assert (again.attempts, again.problem) == (2, "down")


def test_what_ended_is_not_recorded_twice(stores):
    stores.reminders.add(reminder())
    take(stores)

    stores.reminders.record("rem_1", state=ReminderState.SENT, at=NOW, is_over=True)
    stores.reminders.record("rem_1", state=ReminderState.GIVEN_UP, at=NOW + MINUTE)

    (one,) = stores.reminders.recent(limit=9)
    assert (one.state, one.ended_at, one.over_at) == (ReminderState.SENT, NOW, NOW)


def test_old_ones_are_forgotten_unless_their_crossing_lasts(stores):
    for name, occasion in (("rem_1", "20>4h"), ("rem_2", "1>24h")):
        stores.reminders.add(reminder(name, occasion=occasion))
    take(stores)
    for name in ("rem_1", "rem_2"):
        stores.reminders.record(name, state=ReminderState.SENT, at=NOW)
    stores.reminders.end_crossings(["rem_1"], at=NOW)

    stores.reminders.prune(before=NOW + MINUTE)

    assert [one.id for one in stores.reminders.recent(limit=9)] == ["rem_2"]
