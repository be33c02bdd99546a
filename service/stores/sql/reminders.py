"""Keeps reminders in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.reminder import Channel, Reminder, ReminderState
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.statements import chunks, insert_if_free
from service.stores.sql.schema.reminders import is_in_force, reminders

_c = reminders.c
# The room is no user: the empty string, as the schema says why.
_reminder_values = writer(Reminder, user_id=lambda user_id: user_id or "")
_reminder_from = reader(
    Reminder, channel=Channel, user_id=lambda user_id: user_id or None, state=ReminderState
)


class SqlReminderStore:
    """Keeps reminders in a SQL database; see `ReminderStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, reminder: Reminder) -> bool:
        """See `ReminderStore.add`."""

        def insert(connection: sa.Connection) -> bool:
            statement = insert_if_free(connection, reminders).returning(_c.id)
            return bool(connection.execute(statement, [_reminder_values(reminder)]).all())

        return write(self._engine, insert)

    def in_force(self) -> list[Reminder]:
        """See `ReminderStore.in_force`."""
        return self._find(sa.select(reminders).where(is_in_force).order_by(_c.created_at, _c.id))

    def take_due(self, now: datetime, *, until: datetime, occasion: str | None) -> list[Reminder]:
        """See `ReminderStore.take_due`."""
        is_due = sa.and_(_c.state == ReminderState.WAITING.value, _c.next_try_at <= now)
        if occasion is not None:
            is_due = sa.and_(is_due, _c.occasion == occasion)
        take = (
            sa.update(reminders)
            .where(is_due)
            .values(
                state=ReminderState.SENDING.value,
                next_try_at=until,
                attempts=_c.attempts + 1,
            )
            .returning(*reminders.c)
        )
        taken = write(
            self._engine, lambda c: [_reminder_from(row) for row in c.execute(take).all()]
        )
        return sorted(taken, key=lambda one: (one.created_at, one.id))

    def end_lost(self, now: datetime, *, problem: str) -> int:
        """See `ReminderStore.end_lost`."""
        end = (
            sa.update(reminders)
            .where(_c.state == ReminderState.SENDING.value, _c.next_try_at <= now)
            .values(
                state=ReminderState.UNCERTAIN.value,
                next_try_at=None,
                ended_at=now,
                problem=problem,
            )
        )
        return write(self._engine, lambda connection: connection.execute(end).rowcount)

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
        values: dict[str, object] = {
            "state": state.value,
            "problem": problem,
            "next_try_at": next_try_at,
            "ended_at": None if state is ReminderState.WAITING else at,
        }
        if is_over:
            values["over_at"] = at
        change = (
            sa.update(reminders)
            .where(_c.id == reminder_id, _c.state == ReminderState.SENDING.value)
            .values(values)
        )
        write(self._engine, lambda connection: connection.execute(change))

    def end_crossings(self, reminder_ids: Sequence[str], *, at: datetime) -> None:
        """See `ReminderStore.end_crossings`."""

        def end(connection: sa.Connection) -> None:
            for some in chunks(reminder_ids):
                mine = sa.and_(_c.id.in_(some), is_in_force)
                waited = sa.and_(mine, _c.state == ReminderState.WAITING.value)
                connection.execute(
                    sa.update(reminders)
                    .where(waited)
                    .values(state=ReminderState.OVER.value, ended_at=at, next_try_at=None)
                )
                connection.execute(sa.update(reminders).where(mine).values(over_at=at))

        write(self._engine, end)

    def recent(self, *, limit: int) -> list[Reminder]:
        """See `ReminderStore.recent`."""
        newest = (_c.created_at.desc(), _c.id.desc())
        return self._find(sa.select(reminders).order_by(*newest).limit(limit))

    def newest_of(self, user_id: str | None) -> Reminder | None:
        """See `ReminderStore.newest_of`."""
        newest = (_c.created_at.desc(), _c.id.desc())
        query = sa.select(reminders).where(_c.user_id == (user_id or ""))
        return next(iter(self._find(query.order_by(*newest).limit(1))), None)

    def prune(self, *, before: datetime) -> None:
        """See `ReminderStore.prune`."""
        old = sa.and_(_c.over_at < before, _c.ended_at < before)
        write(self._engine, lambda connection: connection.execute(sa.delete(reminders).where(old)))

    def _find(self, query: sa.Select[tuple[object, ...]]) -> list[Reminder]:
        with reading(self._engine) as connection:
            return [_reminder_from(row) for row in connection.execute(query)]
