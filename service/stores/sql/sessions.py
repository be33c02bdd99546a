"""Keeps moderators' sessions in a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

import sqlalchemy as sa

from service.domain.sign_in import UserSession
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.statements import refuse_unknown
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import user_sessions, users

_session_values, _session_from = writer(UserSession), reader(UserSession)


class SessionStore(SqlStore):
    """Keeps who is signed in, where."""

    def add(self, session: UserSession) -> None:
        """Keep a session that begins. Raise `NotFoundError` for an unknown account."""

        def insert(connection: sa.Connection) -> None:
            refuse_unknown(connection, users, session.user_id, "account")
            connection.execute(sa.insert(user_sessions), [_session_values(session)])

        write(self._engine, insert)

    def get(self, session_id: str) -> UserSession | None:
        """Return a session, ended or not."""
        query = sa.select(user_sessions).where(user_sessions.c.id == session_id)
        return self._find(query, _session_from)

    def touch(self, session_id: str, *, at: datetime) -> None:
        """Remember that a session was used; harmless for an unknown one."""
        statement = (
            sa.update(user_sessions).where(user_sessions.c.id == session_id).values(last_seen_at=at)
        )
        write(self._engine, lambda c: c.execute(statement))

    def end(self, session_id: str, *, user_id: str, at: datetime) -> bool:
        """End one session of this account; return whether that was still to be done."""
        this = user_sessions.c.id == session_id
        return write(self._engine, lambda c: end_sessions(c, user_id, at=at, which=this)) == 1

    def end_all(
        self,
        user_id: str,
        *,
        at: datetime,
        except_session: str | None = None,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> int:
        """End every session of an account, all but one if it is named; return how many.

        If there were any, `act` returns the log's entry of so many.
        """
        which = None if except_session is None else user_sessions.c.id != except_session

        def end(connection: sa.Connection) -> int:
            ended = end_sessions(connection, user_id, at=at, which=which)
            insert_entry(connection, act(ended) if act and ended else None)
            return ended

        return write(self._engine, end)

    def open_of(self, user_id: str) -> list[UserSession]:
        """Return an account's sessions that were not ended, the one used last first."""
        query = (
            sa.select(user_sessions)
            .where(user_sessions.c.user_id == user_id, user_sessions.c.ended_at.is_(None))
            .order_by(user_sessions.c.last_seen_at.desc(), user_sessions.c.id.desc())
        )
        return self._list(query, _session_from)

    def last_seen(self) -> Mapping[str, datetime]:
        """Return when each account was last seen, by its id; who never was is left out."""
        seen = sa.func.max(user_sessions.c.last_seen_at, type_=user_sessions.c.last_seen_at.type)
        query = sa.select(user_sessions.c.user_id, seen).group_by(user_sessions.c.user_id)
        with reading(self._engine) as connection:
            return {row[0]: row[1] for row in connection.execute(query)}

    def prune(self, *, seen_before: datetime, limit: int) -> int:
        """Delete at most `limit` sessions last used before then; return how many."""
        old = (
            sa.select(user_sessions.c.id)
            .where(user_sessions.c.last_seen_at < seen_before)
            .order_by(user_sessions.c.last_seen_at)
            .limit(limit)
        )
        statement = (
            sa.delete(user_sessions)
            .where(user_sessions.c.id.in_(old))
            .returning(user_sessions.c.id)
        )
        return write(self._engine, lambda c: len(c.execute(statement).all()))


def end_sessions(
    connection: sa.Connection,
    user_id: str,
    *,
    at: datetime,
    which: sa.ColumnElement[bool] | None = None,
) -> int:
    """End an account's sessions within a transaction, all or those that match; return how many."""
    statement = (
        sa.update(user_sessions)
        .where(user_sessions.c.user_id == user_id, user_sessions.c.ended_at.is_(None))
        .values(ended_at=at)
        .returning(user_sessions.c.id)
    )
    if which is not None:
        statement = statement.where(which)
    return len(connection.execute(statement).all())
