"""Holds every store of personal data to finding a person's comments, and old ones."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.case import SpamOnly
from service.domain.comment import Author, Sender
from service.domain.decision import Ruling
from service.domain.sender import Person
from service.domain.verdict import Outcome
from service.ports.audit import AuditEntry
from tests.factories import NOW, SITE, keep_one, make_decision

EMAIL = Person(sender=Sender(email_key="e1"))


def found(stores, person: Person) -> list[str]:
    return stores.personal_data.find(person, after=None, limit=99)


def test_a_persons_comments_are_found_by_their_keys(stores):
    mine = keep_one(stores, sender=Sender(email_key="e1"))
    older = keep_one(stores, sender=Sender(email_key="e0"))
    keep_one(stores, sender=Sender(email_key="e2"))
    person = Person(sender=Sender(email_key="e1", before_rotation=Sender(email_key="e0")))

    assert found(stores, EMAIL) == [mine]
    assert found(stores, person) == [mine, older]


def test_a_name_finds_what_has_no_key_of_it_or_one_of_a_lost_secret(stores):
    keyless = keep_one(stores, author=Author(name="M\u202eara \U0001f331"))
    sender = Sender(name_key="other")
    keyed = keep_one(stores, author=Author(name="M\u202eara \U0001f331"), sender=sender)
    keep_one(stores, author=Author(name="Mara"))

    person = Person(sender=Sender(), author_name="M\u202eara \U0001f331")

    assert found(stores, person) == [keyless, keyed]


def test_nobody_is_found_by_nothing(stores):
    keep_one(stores, author=Author())

    assert found(stores, Person(sender=Sender())) == []
    assert stores.personal_data.count_by_site(Person(sender=Sender())) == {}


def test_comments_come_in_pages_ascending(stores):
    kept = sorted(keep_one(stores, sender=Sender(email_key="e1")) for _ in range(5))

    first = stores.personal_data.find(EMAIL, after=None, limit=3)
    second = stores.personal_data.find(EMAIL, after=first[-1], limit=3)

    assert first + second == kept


def test_comments_are_counted_by_site(stores):
    for site_id in (SITE, SITE, "site-2"):
        keep_one(stores, sender=Sender(email_key="e1"), site_id=site_id)

    assert stores.personal_data.count_by_site(EMAIL) == {SITE: 2, "site-2": 1}


def test_withdrawn_comments_are_blank_counted_once_and_nobodys(stores):
    mine = [keep_one(stores, sender=Sender(email_key="e1")) for _ in range(2)]

    told = [stores.personal_data.withdraw([*mine, "no"], at=NOW) for _ in range(2)]

    assert told == [2, 0]
    assert found(stores, EMAIL) == []
    for one in mine:
        case = stores.cases.get(one)
        assert (case.comment.text, case.comment.author, case.withdrawn_at) == ("", Author(), NOW)


def find_old(stores, *, only: SpamOnly | None = None, limit: int = 99) -> set[str]:
    ids = stores.personal_data.find_old(
        received_before=NOW - timedelta(days=30), only=only, limit=limit
    )
    return set(ids)


def test_old_comments_that_nothing_waits_for_are_found_by_age(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    done = [keep_one(stores, outcome, **old) for outcome in (Outcome.HAM, Outcome.SPAM)]
    decided = keep_one(stores, Outcome.UNSURE, **old)
    stores.decisions.add(make_decision(f"d-{decided}", decided, Ruling.REJECT))
    keep_one(stores, Outcome.UNSURE, **old)
    keep_one(stores, Outcome.HAM, audit=True, **old)
    keep_one(stores, None, **old)
    keep_one(stores, Outcome.HAM)

    assert find_old(stores) == {*done, decided}
    assert len(find_old(stores, limit=2)) == 2


def test_of_spam_alone_what_somebody_approved_is_left(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    spam, approved, rejected = (keep_one(stores, Outcome.SPAM, **old) for _ in range(3))
    keep_one(stores, Outcome.HAM, **old)
    stores.decisions.add(make_decision(f"d-{approved}", approved, Ruling.APPROVE))
    stores.decisions.add(make_decision(f"d-{rejected}", rejected, Ruling.REJECT))

    assert find_old(stores, only=SpamOnly.NOT_APPROVED) == {spam, rejected}

    for one, days_ago in ((approved, 30), (rejected, 31)):
        stores.decisions.undo(one, by="mod", at=NOW - timedelta(days=days_ago))

    assert find_old(stores, only=SpamOnly.NOT_APPROVED) == {spam, rejected}
    assert find_old(stores, only=SpamOnly.HELD) == {spam, rejected}


@pytest.mark.parametrize(
    ("detail", "days_ago", "is_old"),
    [
        ("mode: observe to hold; learns: True to False", 29, False),
        ("mode: observe to hold", 31, True),
        ("learns: True to False", 29, True),
    ],
)
def test_spam_that_was_published_is_held_since_its_sites_mode_changed(
    stores, detail, days_ago, is_old
):
    held = keep_one(stores, Outcome.SPAM, received_at=NOW - timedelta(days=90))
    at = NOW - timedelta(days=days_ago)
    stores.audit_log.append(
        AuditEntry(at=at, actor="ada", act="change settings", subject=SITE, detail=detail)
    )

    assert find_old(stores, only=SpamOnly.HELD) == ({held} if is_old else set())


def test_of_held_spam_what_somebody_decided_is_left_even_after_it_was_found(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    held, ruled, meanwhile = (keep_one(stores, Outcome.SPAM, **old) for _ in range(3))
    keep_one(stores, Outcome.SPAM)
    keep_one(stores, Outcome.SPAM, audit=True, **old)
    keep_one(stores, Outcome.HAM, **old)
    stores.decisions.add(make_decision(f"d-{ruled}", ruled, Ruling.REJECT))

    found = find_old(stores, only=SpamOnly.HELD)
    stores.decisions.add(make_decision(f"d-{meanwhile}", meanwhile, Ruling.APPROVE))

    assert found == {held, meanwhile}
    assert stores.personal_data.withdraw(list(found), at=NOW, only=SpamOnly.HELD) == 1
    assert stores.cases.get(meanwhile).withdrawn_at is None
