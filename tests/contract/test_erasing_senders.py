"""Holds every comment store to finding and erasing what its comments' senders are known by."""

from __future__ import annotations

from dataclasses import replace

from service.domain.comment import Comment, Listing, ListKind, Sender
from service.domain.sender import Person
from service.ports.comments import AddOutcome
from tests.factories import keep_all, make_comment

FULL = Sender(
    address_key="a1",
    network_key="n1",
    wide_network_key="w1",
    system=64500,
    email_key="e1",
    email_domain="example.org",
    name_key="m1",
    before_rotation=Sender(address_key="a0", email_key="e0"),
    listings=(Listing(list_name="tor", kind=ListKind.NETWORKS, age_days=1.0),),
)


def keep(stores, sender: Sender, **changes) -> Comment:
    comment = make_comment(sender=sender, **changes)
    keep_all(stores.comments, comment)
    return comment


def found(stores, sender: Sender, *, limit: int = 99) -> set[str]:
    return set(stores.personal_data.find(Person(sender=sender), after=None, limit=limit))


def test_a_persons_comments_are_found_by_address_email_or_name(stores):
    full = keep(stores, FULL)
    by_name = keep(stores, Sender(name_key="m1"))
    keep(stores, Sender(address_key="a2", email_key="a1", name_key="e1"))

    assert found(stores, Sender(address_key="a1")) == {full.id}
    assert found(stores, Sender(email_key="e1")) == {full.id}
    assert found(stores, Sender(email_key="e1", name_key="m1")) == {full.id, by_name.id}


def test_what_others_share_finds_nobody(stores):
    keep(stores, FULL)

    shared = Sender(
        network_key="n1", wide_network_key="w1", system=64500, email_domain="example.org"
    )

    assert found(stores, shared) == set()
    assert found(stores, Sender()) == set()


def test_comments_from_before_the_rotation_are_found_by_the_older_key(stores):
    old = keep(stores, Sender(email_key="e0"))

    present = Sender(email_key="e1", before_rotation=Sender(email_key="e0"))

    assert found(stores, present) == {old.id}


def test_no_more_are_found_than_asked_for(stores):
    for _ in range(3):
        keep(stores, FULL)

    assert len(found(stores, FULL, limit=2)) == 2


def test_an_erased_sender_leaves_the_comment_as_it_was_otherwise(stores):
    erased, other = keep(stores, FULL), keep(stores, FULL)

    stores.personal_data.erase_senders([erased.id, "unknown"])
    stores.personal_data.erase_senders([erased.id])
    stores.personal_data.erase_senders([])

    assert stores.cases.get(erased.id).comment == replace(erased, sender=Sender())
    assert stores.cases.get(other.id).comment == other


def test_a_repeat_of_an_erased_senders_comment_is_still_known_as_one(stores):
    first = keep(stores, FULL, site_comment_id="17")
    stores.personal_data.erase_senders([first.id])

    again = make_comment(sender=FULL, site_comment_id="17")
    [added] = keep_all(stores.comments, again)

    assert (added.outcome, added.comment_id) == (AddOutcome.REPEAT, first.id)
