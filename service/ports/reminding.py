"""Reminding moderators of what waits: who was told of what, by mail or in a chat room."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from service.domain.reminder import Mail, Reminder, ReminderState, SentReminder


class ReminderStore(Protocol):
    """Keeps reminders, so that nobody is told twice of one crossing."""

    def add(self, reminder: Reminder) -> bool:
        """Keep a reminder; return False if its recipient has one of this occasion in force.

        Of several calls at once one returns True.
        """

    def in_force(self) -> list[Reminder]:
        """Return all whose crossing has not ended."""

    def take_due(self, now: datetime, *, until: datetime, occasion: str | None) -> list[Reminder]:
        """Return waiting reminders whose time has come, as SENDING, one attempt more.

        With `occasion` those of this occasion alone. No other call returns them; what still is
        SENDING at `until` was cut off.
        """

    def end_lost(self, now: datetime, *, problem: str) -> int:
        """Let those that were cut off while they were sent be UNCERTAIN; return how many."""

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
        """Keep what came of one that is SENDING; harmless for any other.

        WAITING goes on at `next_try_at`. `is_over` ends its crossing too.
        """

    def end_crossings(self, reminder_ids: Sequence[str], *, at: datetime) -> None:
        """End these crossings; what waited to be sent about them is OVER."""

    def recent(self, *, limit: int) -> list[Reminder]:
        """Return the newest first."""

    def newest_of(self, user_id: str | None) -> Reminder | None:
        """Return the newest to this account, or to the room for None."""

    def prune(self, *, before: datetime) -> None:
        """Forget those that ended, with their crossing, before this."""


class Mailer(Protocol):
    """Sends mail."""

    def send(self, mail: Mail) -> SentReminder:
        """Hand one mail to the mail server; end in time, whatever it does. Never raises."""


class Room(Protocol):
    """Posts to the chat room that this installation is set up for."""

    def post(self, text: str) -> SentReminder:
        """Post one message; end in time, whatever the other side does. Never raises."""


class _NoMailer:
    """Stands in where no mail is set up; see `Mailer`."""

    def send(self, mail: Mail) -> SentReminder:
        """See `Mailer.send`."""
        return SentReminder(problem="no mail server is set", hopeless=True)


class _NoRoom:
    """Stands in where no room is set up; see `Room`."""

    def post(self, text: str) -> SentReminder:
        """See `Room.post`."""
        return SentReminder(problem="no chat room is set", hopeless=True)


NO_MAILER: Mailer = _NoMailer()
NO_ROOM: Room = _NoRoom()
