"""Keeps second factors in a SQL database."""

from __future__ import annotations

from collections.abc import Callable, Collection

import sqlalchemy as sa

from service.domain.sign_in import SecondFactor
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.statements import refuse_unknown
from service.stores.sql.base.store import SqlStore
from service.stores.sql.schema.tables import recovery_codes, second_factors, users

_factor_values, _factor_from = writer(SecondFactor), reader(SecondFactor)


class SecondFactorStore(SqlStore):
    """Keeps second factors, at most one an account, and what stands in for a lost one."""

    def put(
        self,
        factor: SecondFactor,
        *,
        recovery_digests: Collection[str],
        act: AuditEntry | None = None,
    ) -> None:
        """Keep an account's second factor and its recovery codes in place of earlier ones.

        The log's entry is kept in the same transaction. Raise `NotFoundError` for an unknown
        account.
        """

        def put(connection: sa.Connection) -> None:
            refuse_unknown(connection, users, factor.user_id, "account")
            _remove(connection, factor.user_id)
            connection.execute(sa.insert(second_factors), [_factor_values(factor)])
            if recovery_digests:
                connection.execute(
                    sa.insert(recovery_codes),
                    [{"user_id": factor.user_id, "digest": one} for one in set(recovery_digests)],
                )
            insert_entry(connection, act)

        write(self._engine, put)

    def get(self, user_id: str) -> SecondFactor | None:
        """Return an account's second factor, None if it has none."""
        query = sa.select(second_factors).where(second_factors.c.user_id == user_id)
        return self._find(query, _factor_from)

    def user_ids(self) -> frozenset[str]:
        """Return the ids of all accounts that have one."""
        with reading(self._engine) as connection:
            return frozenset(connection.scalars(sa.select(second_factors.c.user_id)))

    def use_step(self, user_id: str, step: int) -> bool:
        """Say that the code of this time step was used; False if it, or a later one, was before.

        Of several calls at once with one step, one returns True.
        """
        statement = (
            sa.update(second_factors)
            .where(second_factors.c.user_id == user_id, second_factors.c.last_step < step)
            .values(last_step=step)
            .returning(second_factors.c.user_id)
        )
        return write(self._engine, lambda c: c.execute(statement).one_or_none()) is not None

    def use_recovery(
        self, user_id: str, digest: str, *, act: Callable[[int], AuditEntry] | None = None
    ) -> bool:
        """Strike a recovery code off; False if there is none such.

        Of several calls at once with one code, one returns True. `act` returns the log's entry for
        so many codes left.
        """
        statement = (
            sa.delete(recovery_codes)
            .where(recovery_codes.c.user_id == user_id, recovery_codes.c.digest == digest)
            .returning(recovery_codes.c.digest)
        )

        def use(connection: sa.Connection) -> bool:
            if connection.execute(statement).one_or_none() is None:
                return False
            insert_entry(connection, act(_count_recovery(connection, user_id)) if act else None)
            return True

        return write(self._engine, use)

    def count_recovery(self, user_id: str) -> int:
        """Return how many recovery codes are left."""
        with reading(self._engine) as connection:
            return _count_recovery(connection, user_id)

    def remove(self, user_id: str, *, act: AuditEntry | None = None) -> bool:
        """Forget an account's second factor and its codes; return whether there was one.

        If so, the log's entry is kept in the same transaction.
        """

        def remove(connection: sa.Connection) -> bool:
            removed = _remove(connection, user_id)
            insert_entry(connection, act if removed else None)
            return removed

        return write(self._engine, remove)


def _count_recovery(connection: sa.Connection, user_id: str) -> int:
    query = (
        sa.select(sa.func.count())
        .select_from(recovery_codes)
        .where(recovery_codes.c.user_id == user_id)
    )
    return connection.execute(query).scalar_one()


def _remove(connection: sa.Connection, user_id: str) -> bool:
    connection.execute(sa.delete(recovery_codes).where(recovery_codes.c.user_id == user_id))
    statement = (
        sa.delete(second_factors)
        .where(second_factors.c.user_id == user_id)
        .returning(second_factors.c.user_id)
    )
    return connection.execute(statement).one_or_none() is not None
