"""Keeps reminders in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from service.domain.reminder import Reminder, ReminderState


class MemoryReminderStore:
    """Keeps reminders in memory; see `ReminderStore`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, Reminder] = {}

    def add(self, reminder: Reminder) -> bool:
        """See `ReminderStore.add`."""
        with self._lock:
            told = {_key(one) for one in self._kept.values() if one.over_at is None}
            if reminder.id in self._kept or (reminder.over_at is None and _key(reminder) in told):
                return False
            self._kept[reminder.id] = reminder
            return True

    def in_force(self) -> list[Reminder]:
        """See `ReminderStore.in_force`."""
        return [one for one in self._in_order() if one.over_at is None]

    def take_due(self, now: datetime, *, until: datetime, occasion: str | None) -> list[Reminder]:
        """See `ReminderStore.take_due`."""
        taken = []
        for one in self._in_order():
            is_due = one.next_try_at is not None and one.next_try_at <= now
            is_meant = occasion is None or one.occasion == occasion
            with self._lock:
                if is_due and is_meant and self._kept[one.id].state is ReminderState.WAITING:
                    taken.append(
                        replace(
                            one,
                            state=ReminderState.SENDING,
                            next_try_at=until,
                            attempts=one.attempts + 1,
                        )
                    )
                    self._kept[one.id] = taken[-1]
        return taken

    def end_lost(self, now: datetime, *, problem: str) -> int:
        """See `ReminderStore.end_lost`."""
        with self._lock:
            lost = [
                one
                for one in self._kept.values()
                if one.state is ReminderState.SENDING and one.next_try_at and one.next_try_at <= now
            ]
            for one in lost:
                self._kept[one.id] = replace(
                    one,
                    state=ReminderState.UNCERTAIN,
                    next_try_at=None,
                    ended_at=now,
                    problem=problem,
                )
            return len(lost)

    def record(
        self,
        reminder_id: str,
        *,
        state: ReminderState,
        at: datetime,
        problem: str | None = None,
        next_try_at: datetime | None = None,
        is_over: bool = False,
    ) -> None:
        """See `ReminderStore.record`."""
        with self._lock:
            one = self._kept.get(reminder_id)
            if one is None or one.state is not ReminderState.SENDING:
                return
            self._kept[reminder_id] = replace(
                one,
                state=state,
                problem=problem,
                next_try_at=next_try_at,
                ended_at=None if state is ReminderState.WAITING else at,
                over_at=at if is_over else one.over_at,
            )

    def end_crossings(self, reminder_ids: Sequence[str], *, at: datetime) -> None:
        """See `ReminderStore.end_crossings`."""
        with self._lock:
            for reminder_id in reminder_ids:
                one = self._kept.get(reminder_id)
                if one is None or one.over_at is not None:
                    continue
                if one.state is ReminderState.WAITING:
                    one = replace(one, state=ReminderState.OVER, ended_at=at, next_try_at=None)
                self._kept[reminder_id] = replace(one, over_at=at)

    def recent(self, *, limit: int) -> list[Reminder]:
        """See `ReminderStore.recent`."""
        return self._in_order()[::-1][:limit]

    def newest_of(self, user_id: str | None) -> Reminder | None:
        """See `ReminderStore.newest_of`."""
        return next((one for one in self._in_order()[::-1] if one.user_id == user_id), None)

    def prune(self, *, before: datetime) -> None:
        """See `ReminderStore.prune`."""
        with self._lock:
            self._kept = {
                key: one
                for key, one in self._kept.items()
                if not (
                    one.over_at and one.over_at < before and one.ended_at and one.ended_at < before
                )
            }

    def _in_order(self) -> list[Reminder]:
        with self._lock:
            return sorted(self._kept.values(), key=lambda one: (one.created_at, one.id))


def _key(one: Reminder) -> tuple[object, ...]:
    return one.channel, one.user_id, one.occasion
