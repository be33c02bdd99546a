"""Holds every store of personal data to finding a person's comments, and old ones."""

from __future__ import annotations

from datetime import timedelta

from service.domain.comment import Author, Comment, Sender
from service.domain.decision import Ruling
from service.domain.person import Person
from service.domain.verdict import Outcome
from service.ports.people import SpamOnly
from tests.factories import NOW, SITE, keep_all, make_comment, make_decision, make_verdict

EMAIL = Person(sender=Sender(email_key="e1"))


def keep(stores, outcome: Outcome | None = None, *, audit: bool = False, **changes) -> Comment:
    comment = make_comment(**changes)
    keep_all(stores.comments, comment)
    if outcome is not None:
        sample = frozenset([comment.id]) if audit else frozenset()
        stores.verdicts.add([make_verdict(comment.id, outcome)], audit=sample)
    return comment


def decide(stores, comment: Comment, ruling: Ruling) -> None:
    decision = make_decision(f"d-{comment.id}", comment.id, ruling, decided_by="mod")
    stores.decisions.add(decision)


def found(stores, person: Person) -> list[str]:
    return stores.personal_data.find(person, after=None, limit=99)


def test_a_persons_comments_are_found_by_their_keys(stores):
    mine = keep(stores, sender=Sender(email_key="e1"))
    older = keep(stores, sender=Sender(email_key="e0"))
    keep(stores, sender=Sender(email_key="e2"))
    person = Person(sender=Sender(email_key="e1", before_rotation=Sender(email_key="e0")))

    assert found(stores, EMAIL) == [mine.id]
    assert found(stores, person) == [mine.id, older.id]


def test_a_name_finds_only_what_was_kept_without_a_key_of_it(stores):
    keyless = keep(stores, author=Author(name="M\u202eara \U0001f331"))
    keep(stores, author=Author(name="M\u202eara \U0001f331"), sender=Sender(name_key="other"))
    keep(stores, author=Author(name="Mara"))

    person = Person(sender=Sender(), author_name="M\u202eara \U0001f331")

    assert found(stores, person) == [keyless.id]


def test_nobody_is_found_by_nothing(stores):
    keep(stores, author=Author())

    assert found(stores, Person(sender=Sender())) == []
    assert stores.personal_data.count_by_site(Person(sender=Sender())) == {}


def test_comments_come_in_pages_ascending(stores):
    kept = sorted(keep(stores, sender=Sender(email_key="e1")).id for _ in range(5))

    first = stores.personal_data.find(EMAIL, after=None, limit=3)
    second = stores.personal_data.find(EMAIL, after=first[-1], limit=3)

    assert first + second == kept


def test_comments_are_counted_by_site(stores):
    for site_id in (SITE, SITE, "site-2"):
        keep(stores, sender=Sender(email_key="e1"), site_id=site_id)

    assert stores.personal_data.count_by_site(EMAIL) == {SITE: 2, "site-2": 1}


def test_withdrawn_comments_are_blank_counted_once_and_nobodys(stores):
    mine = [keep(stores, sender=Sender(email_key="e1")) for _ in range(2)]
    ids = [one.id for one in mine]

    told = [stores.personal_data.withdraw([*ids, "no"], at=NOW) for _ in range(2)]

    assert told == [2, 0]
    assert found(stores, EMAIL) == []
    for one in mine:
        case = stores.cases.get(one.id)
        assert (case.comment.text, case.comment.author, case.withdrawn_at) == ("", Author(), NOW)


def find_old(stores, *, only: SpamOnly | None = None, limit: int = 99) -> set[str]:
    ids = stores.personal_data.find_old(
        received_before=NOW - timedelta(days=30), only=only, limit=limit
    )
    return set(ids)


def test_old_comments_that_nothing_waits_for_are_found_by_age(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    done = [keep(stores, outcome, **old) for outcome in (Outcome.HAM, Outcome.SPAM)]
    decided = keep(stores, Outcome.UNSURE, **old)
    decide(stores, decided, Ruling.REJECT)
    keep(stores, Outcome.UNSURE, **old)
    keep(stores, Outcome.HAM, audit=True, **old)
    keep(stores, None, **old)
    keep(stores, Outcome.HAM)

    assert find_old(stores) == {*(one.id for one in done), decided.id}
    assert len(find_old(stores, limit=2)) == 2


def test_of_spam_alone_what_somebody_approved_is_left(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    spam, approved, rejected = (keep(stores, Outcome.SPAM, **old) for _ in range(3))
    keep(stores, Outcome.HAM, **old)
    decide(stores, approved, Ruling.APPROVE)
    decide(stores, rejected, Ruling.REJECT)

    assert find_old(stores, only=SpamOnly.NOT_APPROVED) == {spam.id, rejected.id}

    stores.decisions.undo(approved.id, by="mod", at=NOW)

    assert find_old(stores, only=SpamOnly.NOT_APPROVED) == {spam.id, approved.id, rejected.id}


def test_of_held_spam_what_somebody_decided_is_left_even_after_it_was_found(stores):
    old = {"received_at": NOW - timedelta(days=31)}
    held, ruled, meanwhile = (keep(stores, Outcome.SPAM, **old) for _ in range(3))
    keep(stores, Outcome.SPAM)
    keep(stores, Outcome.SPAM, audit=True, **old)
    keep(stores, Outcome.HAM, **old)
    decide(stores, ruled, Ruling.REJECT)

    found = find_old(stores, only=SpamOnly.HELD)
    decide(stores, meanwhile, Ruling.APPROVE)

    assert found == {held.id, meanwhile.id}
    assert stores.personal_data.withdraw(list(found), at=NOW, only=SpamOnly.HELD) == 1
    assert stores.cases.get(meanwhile.id).withdrawn_at is None
