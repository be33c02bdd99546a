"""Stores retrainings in a SQL database."""

from datetime import datetime

import sqlalchemy as sa

from service.domain.errors import ConflictError
from service.domain.retraining import Answer, Retraining, RetrainingState
from service.ports.audit import AuditEntry
from service.ports.comments import Lease
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import SqlStore, known, put_row, take_lease, transaction
from service.stores.sql.engine import reading
from service.stores.sql.rows import Values, reader, writer
from service.stores.sql.tables import retraining_lease, retrainings

_COLUMNS = {"report": "summary"}
_all_values = writer(Retraining, columns=_COLUMNS)
# Reports of 1.0 have the counts in a part of their own.
_retraining_from = reader(
    Retraining, columns=_COLUMNS, report=lambda kept: kept and kept | (kept.get("lessons") or {})
)
_NO_ANSWER = {"answer": None, "answered_by": None, "answered_at": None}


class RetrainingStore(SqlStore):
    """Stores retrainings, and the lease that allows one process at a time to run one."""

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """Take or renew the lease to retrain until `until`; REFUSED if another process has it."""
        return self.write(lambda tx: take_lease(tx, retraining_lease, holder, now=now, until=until))

    def end_lease(self, holder: str) -> None:
        ended = sa.delete(retraining_lease).where(retraining_lease.c.holder == holder)
        self.write(lambda tx: tx.execute(ended))

    @transaction
    def put(
        self, tx: sa.Connection, retraining: Retraining, *, act: AuditEntry | None = None
    ) -> None:
        """Insert or update a retraining, except its answer."""
        put_row(tx, retrainings, _values(retraining))
        insert_entries(tx, act)

    @transaction
    def ask(self, tx: sa.Connection, asked: Retraining, *, act: AuditEntry) -> None:
        """Add a retraining. Raise `ConflictError` if one is requested or running."""
        # SQLite runs one writing transaction at a time anyway.
        if tx.dialect.name == "postgresql":
            tx.exec_driver_sql("LOCK TABLE retrainings IN EXCLUSIVE MODE")
        open_states = [RetrainingState.ASKED.value, RetrainingState.RUNNING.value]
        query = sa.select(retrainings).where(retrainings.c.state.in_(open_states))
        for row in tx.execute(query):
            one = _retraining_from(row)
            if not one.is_silent(asked.asked_at):
                raise ConflictError(f"retraining {one.id} is under way")
        tx.execute(sa.insert(retrainings).values(_values(asked)))
        insert_entries(tx, act)

    def get(self, retraining_id: str) -> Retraining:
        """Return a retraining. Raise `NotFoundError` if it is unknown."""
        with reading(self._engine) as tx:
            return _get(tx, retraining_id)

    def recent(self, *, limit: int) -> list[Retraining]:
        order = (retrainings.c.asked_at.desc(), retrainings.c.id.desc())
        query = sa.select(retrainings).order_by(*order).limit(limit)
        return self._list(query, _retraining_from)

    @transaction
    def answer(
        self,
        tx: sa.Connection,
        retraining_id: str,
        answer: Answer,
        *,
        by: str,
        at: datetime,
        act: AuditEntry | None = None,
    ) -> Retraining:
        """Store the answer to a candidate. Raise `ConflictError` if it has one, `NotFoundError`."""
        answered = (
            sa.update(retrainings)
            .where(retrainings.c.id == retraining_id, retrainings.c.answer.is_(None))
            .values(answer=answer.value, answered_by=by, answered_at=at)
        )
        is_first = tx.execute(answered).rowcount > 0
        found = _get(tx, retraining_id)
        if not is_first:
            raise ConflictError(f"retraining {retraining_id} was answered before")
        insert_entries(tx, act)
        return found

    def reopen(self, retraining_id: str) -> None:
        """Delete the answer to a candidate."""
        this = retrainings.c.id == retraining_id
        reopened = sa.update(retrainings).where(this).values(_NO_ANSWER)
        self.write(lambda tx: tx.execute(reopened))


def _get(tx: sa.Connection, retraining_id: str) -> Retraining:
    query = sa.select(retrainings).where(retrainings.c.id == retraining_id)
    return _retraining_from(known(tx.execute(query).one_or_none(), "retraining", retraining_id))


def _values(one: Retraining) -> Values:
    return {name: value for name, value in _all_values(one).items() if name not in _NO_ANSWER}
