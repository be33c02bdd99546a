"""Holds every store to the contract of notes on senders."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.errors import NotFoundError
from service.domain.sender_note import SenderNote
from service.ports.audit import AuditEntry
from tests.factories import NOW, SITE

ACT = AuditEntry(at=NOW, actor="ada", act="note sender", subject="sno_1")


def note(name: str = "sno_1", **changes) -> SenderNote:
    values = {"site_id": SITE, "key": "k1", "text": "Writes in verse", "by": "ada", "at": NOW}
    return SenderNote(id=name, **(values | changes))


def test_notes_are_found_by_any_of_a_senders_keys_the_newest_first(stores):
    first, later = note(), note("sno_2", key="k2", at=NOW + timedelta(hours=1))
    for one in (first, later, note("sno_3", key="k3")):
        stores.sender_notes.add(one, act=ACT)

    assert stores.sender_notes.known_by(["k1", "k2"]) == [later, first]
    assert stores.sender_notes.known_by([]) == []
    assert stores.sender_notes.get("sno_1") == first


def test_a_note_is_removed_and_put_back_and_each_is_written_down_once(stores):
    stores.sender_notes.add(note(), act=ACT)
    removing, back = replace(ACT, act="remove note"), replace(ACT, act="put note back")

    for _ in range(2):
        removed = stores.sender_notes.mark("sno_1", at=NOW, by="mara", act=removing)
    for _ in range(2):
        there = stores.sender_notes.mark("sno_1", at=None, by=None, act=back)

    assert removed == note(removed_at=NOW, removed_by="mara")
    assert there == note()
    assert stores.audit_log.recent(limit=5) == [back, removing, ACT]


def test_an_unknown_note_is_neither_returned_nor_removed(stores):
    with pytest.raises(NotFoundError):
        stores.sender_notes.get("sno_9")
    with pytest.raises(NotFoundError):
        stores.sender_notes.mark("sno_9", at=NOW, by="ada", act=ACT)
    assert stores.audit_log.recent(limit=5) == []


def test_whoever_is_forgotten_loses_every_note_about_them(stores):
    for one in (note(), note("sno_2", removed_at=NOW, removed_by="ada"), note("sno_3", key="k3")):
        stores.sender_notes.add(one, act=ACT)

    assert stores.sender_notes.forget(["k1", "k2"]) == 2

    assert stores.sender_notes.known_by(["k1", "k2"]) == []
    assert stores.sender_notes.known_by(["k3"]) == [note("sno_3", key="k3")]
