"""Keeps notes on senders in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from service.domain.errors import NotFoundError
from service.domain.sender_note import SenderNote
from service.ports.audit import AuditEntry


class MemorySenderNoteStore:
    """Keeps notes in memory; see `SenderNoteStore`."""

    def __init__(self, lock: threading.RLock, audit_log: list[AuditEntry]) -> None:
        self._lock = lock
        self._audit_log = audit_log
        self._notes: dict[str, SenderNote] = {}

    def add(self, note: SenderNote, *, act: AuditEntry) -> None:
        """See `SenderNoteStore.add`."""
        with self._lock:
            self._notes[note.id] = note
            self._audit_log.append(act)

    def get(self, note_id: str) -> SenderNote:
        """See `SenderNoteStore.get`."""
        with self._lock:
            if note_id not in self._notes:
                msg = f"there is no note {note_id!r}"
                raise NotFoundError(msg)
            return self._notes[note_id]

    def mark(
        self, note_id: str, *, at: datetime | None, by: str | None, act: AuditEntry
    ) -> SenderNote:
        """See `SenderNoteStore.mark`."""
        with self._lock:
            note = self.get(note_id)
            if (note.removed_at is None) is not (at is None):
                note = replace(note, removed_at=at, removed_by=by)
                self._notes[note_id] = note
                self._audit_log.append(act)
            return note

    def known_by(self, keys: Sequence[str]) -> list[SenderNote]:
        """See `SenderNoteStore.known_by`."""
        with self._lock:
            found = [note for note in self._notes.values() if note.key in keys]
        return sorted(found, key=lambda note: (note.at, note.id), reverse=True)

    def forget(self, keys: Sequence[str]) -> int:
        """See `SenderNoteStore.forget`."""
        with self._lock:
            gone = self.known_by(keys)
            for note in gone:
                del self._notes[note.id]
            return len(gone)
