"""Stores accounts, their sessions and second factors in a SQL database."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from service.domain.errors import ConflictError, NotAuthenticatedError
from service.domain.user import SecondFactor, User, UserSession
from service.ports.audit import AuditEntry, CountAct
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import SqlStore, insert_new, known, refuse_unknown, transaction
from service.stores.sql.rows import reader, user_from, user_values, writer
from service.stores.sql.tables import recovery_codes, second_factors, user_sessions, users

_TAKEN = "there is an account of that name already"


class UserStore(SqlStore):
    @transaction
    def add(self, tx: sa.Connection, user: User, *, act: AuditEntry | None = None) -> None:
        """Add an account and log it. Raise `ConflictError` if its name is taken."""
        if not insert_new(tx, users, user_values(user)):
            raise ConflictError(_TAKEN)
        insert_entries(tx, act)

    @transaction
    def change(
        self,
        tx: sa.Connection,
        user_id: str,
        how: Callable[[User, Sequence[User]], User],
        *,
        end_sessions_at: datetime | None = None,
        act: AuditEntry | None = None,
    ) -> User:
        """Replace an account by the result of `how(account, all_accounts)`; return the new one.

        All accounts are locked meanwhile. `how` may be called again after a deadlock; its
        exceptions roll everything back. With `end_sessions_at` all sessions of the account end.
        Raise `NotFoundError` for an unknown account, `ConflictError` for a taken name.
        """
        # A fixed order, so that two changes of accounts do not deadlock.
        query = sa.select(users).order_by(users.c.id).with_for_update()
        everybody = [user_from(row) for row in tx.execute(query)]
        mine = next((user for user in everybody if user.id == user_id), None)
        changed = how(known(mine, "account", user_id), everybody)
        new = sa.update(users).where(users.c.id == user_id).values(user_values(changed))
        try:
            tx.execute(new)
        except IntegrityError:
            raise ConflictError(_TAKEN) from None
        if end_sessions_at is not None:
            end_sessions(tx, user_id, at=end_sessions_at)
        insert_entries(tx, act)
        return changed

    def get(self, user_id: str) -> User | None:
        return self._find(sa.select(users).where(users.c.id == user_id), user_from)

    def find(self, name: str) -> User | None:
        """Return an account by name, ignoring case."""
        return self._find(sa.select(users).where(users.c.name_folded == name.casefold()), user_from)

    def all(self) -> list[User]:
        return self._list(sa.select(users).order_by("name"), user_from)


_session_values, _session_from = writer(UserSession), reader(UserSession)


class SessionStore(SqlStore):
    @transaction
    def add(self, tx: sa.Connection, session: UserSession, *, password_hash: str) -> None:
        """Add a session. Raise `NotAuthenticatedError` if the account or its password changed."""
        query = sa.select(users.c.id).where(
            users.c.id == session.user_id,
            users.c.password_hash == password_hash,
            users.c.ended_at.is_(None),
        )
        # Locked, so that a concurrent `end_sessions` runs before this or ends the new session.
        if tx.execute(query.with_for_update(read=True)).one_or_none() is None:
            raise NotAuthenticatedError("the account has another password, or none, by now")
        tx.execute(sa.insert(user_sessions), [_session_values(session)])

    def get(self, session_id: str) -> UserSession | None:
        """Return a session, ended or not."""
        query = sa.select(user_sessions).where(user_sessions.c.id == session_id)
        return self._find(query, _session_from)

    def touch(self, session_id: str, *, at: datetime) -> None:
        this = sa.update(user_sessions).where(user_sessions.c.id == session_id)
        self.write(lambda c: c.execute(this.values(last_seen_at=at)))

    def end(self, session_id: str, *, user_id: str, at: datetime) -> bool:
        """End a session of this account; return False if it had ended or does not exist."""
        this = user_sessions.c.id == session_id
        return self.write(lambda c: end_sessions(c, user_id, at=at, which=this)) == 1

    @transaction
    def end_all(
        self,
        tx: sa.Connection,
        user_id: str,
        *,
        at: datetime,
        except_session: str | None = None,
        act: CountAct | None = None,
    ) -> int:
        """End an account's sessions, except `except_session`, and log it; return how many."""
        which = None if except_session is None else user_sessions.c.id != except_session
        ended = end_sessions(tx, user_id, at=at, which=which)
        insert_entries(tx, act(ended) if act and ended else None)
        return ended

    def open_of(self, user_id: str) -> list[UserSession]:
        """Return an account's sessions that have not ended, most recently used first."""
        query = (
            sa.select(user_sessions)
            .where(user_sessions.c.user_id == user_id, user_sessions.c.ended_at.is_(None))
            .order_by(user_sessions.c.last_seen_at.desc(), user_sessions.c.id.desc())
        )
        return self._list(query, _session_from)

    def last_seen(self) -> Mapping[str, datetime]:
        """Return when each account was last active, by id, without accounts that never were."""
        seen = sa.func.max(user_sessions.c.last_seen_at, type_=user_sessions.c.last_seen_at.type)
        query = sa.select(user_sessions.c.user_id, seen).group_by(user_sessions.c.user_id)
        return {row[0]: row[1] for row in self._rows(query)}

    def prune(self, *, seen_before: datetime, limit: int) -> int:
        """Delete at most `limit` sessions last used before `seen_before`; return how many."""
        old = (
            sa.select(user_sessions.c.id)
            .where(user_sessions.c.last_seen_at < seen_before)
            .order_by(user_sessions.c.last_seen_at)
            .limit(limit)
        )
        statement = sa.delete(user_sessions).where(user_sessions.c.id.in_(old))
        return self.write(lambda c: c.execute(statement).rowcount)


def end_sessions(
    tx: sa.Connection, user_id: str, *, at: datetime, which: sa.ColumnElement[bool] | None = None
) -> int:
    """End an account's sessions, optionally only those that match `which`; return how many."""
    statement = (
        sa.update(user_sessions)
        .where(user_sessions.c.user_id == user_id, user_sessions.c.ended_at.is_(None))
        .values(ended_at=at)
    )
    if which is not None:
        statement = statement.where(which)
    return tx.execute(statement).rowcount


_factor_values, _factor_from = writer(SecondFactor), reader(SecondFactor)


class SecondFactorStore(SqlStore):
    """Stores second factors, at most one per account, and recovery codes."""

    @transaction
    def put(
        self,
        tx: sa.Connection,
        factor: SecondFactor,
        *,
        recovery_digests: Collection[str],
        act: AuditEntry | None = None,
    ) -> None:
        """Replace an account's second factor and recovery codes. Raise `NotFoundError`."""
        refuse_unknown(tx, users, factor.user_id, "account")
        _remove(tx, factor.user_id)
        tx.execute(sa.insert(second_factors), [_factor_values(factor)])
        if recovery_digests:
            tx.execute(
                sa.insert(recovery_codes),
                [{"user_id": factor.user_id, "digest": one} for one in set(recovery_digests)],
            )
        insert_entries(tx, act)

    def get(self, user_id: str) -> SecondFactor | None:
        query = sa.select(second_factors).where(second_factors.c.user_id == user_id)
        return self._find(query, _factor_from)

    def user_ids(self) -> frozenset[str]:
        return frozenset(row.user_id for row in self._rows(sa.select(second_factors.c.user_id)))

    def use_step(self, user_id: str, step: int) -> bool:
        """Mark a time step as used; return False if it or a later one already was."""
        statement = (
            sa.update(second_factors)
            .where(second_factors.c.user_id == user_id, second_factors.c.last_step < step)
            .values(last_step=step)
        )
        return self.write(lambda c: c.execute(statement).rowcount) > 0

    @transaction
    def use_recovery(
        self, tx: sa.Connection, user_id: str, digest: str, *, act: CountAct | None = None
    ) -> bool:
        """Delete a recovery code; return False if it does not exist.

        Of concurrent calls with the same code, one returns True. `act` receives the number of
        remaining codes.
        """
        statement = sa.delete(recovery_codes).where(
            recovery_codes.c.user_id == user_id, recovery_codes.c.digest == digest
        )
        if tx.execute(statement).rowcount == 0:
            return False
        insert_entries(tx, act(tx.execute(_recovery_codes(user_id)).scalar_one()) if act else None)
        return True

    def count_recovery(self, user_id: str) -> int:
        return self._count(_recovery_codes(user_id))

    @transaction
    def remove(self, tx: sa.Connection, user_id: str, *, act: AuditEntry | None = None) -> bool:
        """Delete an account's second factor and codes; return False if there was none."""
        removed = _remove(tx, user_id)
        insert_entries(tx, act if removed else None)
        return removed


def _recovery_codes(user_id: str) -> sa.Select[int]:
    codes = sa.select(sa.func.count()).select_from(recovery_codes)
    return codes.where(recovery_codes.c.user_id == user_id)


def _remove(tx: sa.Connection, user_id: str) -> bool:
    tx.execute(sa.delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
    statement = sa.delete(second_factors).where(second_factors.c.user_id == user_id)
    return tx.execute(statement).rowcount > 0
