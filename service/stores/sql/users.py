"""Keeps moderators' accounts in a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from service.domain.errors import ConflictError
from service.domain.user import User
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base.engine import write
from service.stores.sql.base.rows import user_from, user_values
from service.stores.sql.base.statements import insert_new, known
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import users
from service.stores.sql.sessions import end_sessions

_TAKEN = "there is an account of that name already"


class UserStore(SqlStore):
    """Keeps moderators' accounts."""

    def add(self, user: User, *, act: AuditEntry | None = None) -> None:
        """Keep an account and the log's entry. Raise `ConflictError` if its name is taken."""

        def insert(connection: sa.Connection) -> None:
            if not insert_new(connection, users, user_values(user)):
                raise ConflictError(_TAKEN)
            insert_entry(connection, act)

        write(self._engine, insert)

    def change(
        self,
        user_id: str,
        how: Callable[[User, Sequence[User]], User],
        *,
        end_sessions_at: datetime | None = None,
        act: AuditEntry | None = None,
    ) -> User:
        """Replace an account by what `how` makes of it in view of all accounts, and return that.

        With `end_sessions_at` all its sessions end in the same transaction, which keeps `act`, too.

        No other change of any account happens in between, so what `how` saw is still so when its
        answer is kept. It may be called more than once; what it raises is raised, and nothing is
        changed then. Raise `NotFoundError` for an unknown account.
        """

        def change(connection: sa.Connection) -> User:
            # In one order everywhere, so that two that change accounts wait instead of deadlock.
            query = sa.select(users).order_by(users.c.id).with_for_update()
            everybody = [user_from(row) for row in connection.execute(query)]
            mine = next((user for user in everybody if user.id == user_id), None)
            changed = how(known(mine, "account", user_id), everybody)
            connection.execute(
                sa.update(users).where(users.c.id == user_id).values(user_values(changed))
            )
            if end_sessions_at is not None:
                end_sessions(connection, user_id, at=end_sessions_at)
            insert_entry(connection, act)
            return changed

        try:
            return write(self._engine, change)
        except IntegrityError:
            raise ConflictError(_TAKEN) from None

    def get(self, user_id: str) -> User | None:
        """Return an account by id."""
        return self._one(users.c.id == user_id)

    def find(self, name: str) -> User | None:
        """Return an account by name, without regard to case."""
        return self._one(users.c.name_folded == name.casefold())

    def _one(self, condition: sa.ColumnElement[bool]) -> User | None:
        return self._find(sa.select(users).where(condition), user_from)

    def all(self) -> list[User]:
        """Return all accounts, by name."""
        return self._list(sa.select(users).order_by("name"), user_from)
