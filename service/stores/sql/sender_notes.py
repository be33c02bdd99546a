"""Keeps notes on senders in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.errors import NotFoundError
from service.domain.sender_note import SenderNote
from service.ports.audit import AuditEntry
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.schema.desk import sender_notes

_c = sender_notes.c
_note_values, _note_from = writer(SenderNote), reader(SenderNote)


class SqlSenderNoteStore:
    """Keeps notes in a SQL database; see `SenderNoteStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, note: SenderNote, *, act: AuditEntry) -> None:
        """See `SenderNoteStore.add`."""

        def add(connection: sa.Connection) -> None:
            connection.execute(sa.insert(sender_notes), [_note_values(note)])
            insert_entries(connection, [act])

        write(self._engine, add)

    def get(self, note_id: str) -> SenderNote:
        """See `SenderNoteStore.get`."""
        with reading(self._engine) as connection:
            return _get(connection, note_id)

    def mark(
        self, note_id: str, *, at: datetime | None, by: str | None, act: AuditEntry
    ) -> SenderNote:
        """See `SenderNoteStore.mark`."""
        is_otherwise = _c.removed_at.is_not(None) if at is None else _c.removed_at.is_(None)
        statement = (
            sa.update(sender_notes)
            .where(_c.id == note_id, is_otherwise)
            .values(removed_at=at, removed_by=by)
            .returning(_c.id)
        )

        def mark(connection: sa.Connection) -> SenderNote:
            is_marked = connection.execute(statement).all()
            note = _get(connection, note_id)
            if is_marked:
                insert_entries(connection, [act])
            return note

        return write(self._engine, mark)

    def known_by(self, keys: Sequence[str]) -> list[SenderNote]:
        """See `SenderNoteStore.known_by`."""
        query = sa.select(sender_notes).where(_c.key.in_(keys))
        query = query.order_by(_c.at.desc(), _c.id.desc())
        with reading(self._engine) as connection:
            return [_note_from(row) for row in connection.execute(query)]

    def forget(self, keys: Sequence[str]) -> int:
        """See `SenderNoteStore.forget`."""
        statement = sa.delete(sender_notes).where(_c.key.in_(keys)).returning(_c.id)
        return write(self._engine, lambda connection: len(connection.execute(statement).all()))


def _get(connection: sa.Connection, note_id: str) -> SenderNote:
    row = connection.execute(sa.select(sender_notes).where(_c.id == note_id)).one_or_none()
    if row is None:
        msg = f"there is no note {note_id!r}"
        raise NotFoundError(msg)
    return _note_from(row)
