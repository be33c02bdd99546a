"""Holds every store that tells of senders to its contract."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.case import MAX_OTHER_NAMES, Trait, TraitRecord
from service.domain.comment import Author, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from tests.factories import NOW, keep_all, make_comment, make_decision, make_verdict

SPAMMER = Sender(address_key="a1", network_key="n1", email_key="e1", name_key="m1")


@pytest.fixture
def kept(stores):
    """Return a function that keeps, judges and perhaps decides a comment, each a minute older."""
    minutes = iter(range(10_000))

    def keep(ruling=None, *, outcome=Outcome.UNSURE, text="Buy at https://pills.com/", **changes):
        at = NOW - timedelta(minutes=next(minutes))
        comment = make_comment(text, **({"received_at": at, "sender": SPAMMER} | changes))
        keep_all(stores.comments, comment)
        stores.verdicts.add([make_verdict(comment.id, outcome)], audit=frozenset())
        if ruling is not None:
            decision = make_decision(f"d-{comment.id}", comment.id, ruling, decided_by="Ola")
            stores.decisions.add(decision)
        stores.search.index_due(limit=100)
        return comment

    return keep


def test_other_comments_are_counted_by_each_trait_and_by_what_came_of_them(stores, kept):
    opened = kept()
    kept(Ruling.REJECT)
    kept(Ruling.APPROVE)
    kept()
    kept(sender=Sender(network_key="n1"), text="no link", outcome=Outcome.HAM)
    kept(sender=Sender(address_key="other"), text="no link")

    record = stores.sender_records.look_up(opened, site_ids=None)

    three = {"seen": 3, "approved": 1, "rejected": 1, "waiting": 1}
    assert record.traits == (
        TraitRecord(trait=Trait.ADDRESS, key="a1", **three),
        TraitRecord(trait=Trait.NETWORK, key="n1", seen=4, approved=1, rejected=1, waiting=1),
        TraitRecord(trait=Trait.EMAIL, key="e1", **three),
        TraitRecord(trait=Trait.NAME, key="m1", **three),
        TraitRecord(trait=Trait.DOMAIN, key="pills.com", **three),
    )


def test_an_undone_decision_counts_no_more(stores, kept):
    opened, other = kept(), kept(Ruling.REJECT)
    stores.decisions.undo(other.id, by="Ola", at=NOW)

    record = stores.sender_records.look_up(opened, site_ids=None)

    assert record.traits[0] == TraitRecord(trait=Trait.ADDRESS, key="a1", seen=1, waiting=1)


def test_only_the_given_sites_are_told_of(stores, kept):
    opened = kept()
    kept(site_id=SiteId("site-2"), author=Author(name="Elsewhere"))

    record = stores.sender_records.look_up(opened, site_ids=(opened.site_id,))

    assert {trait.seen for trait in record.traits} == {0}
    assert record.other_names == record.last == ()


def test_keys_of_before_the_rotation_count_too(stores, kept):
    kept(sender=Sender(address_key="old"), text="none")
    rotated = Sender(address_key="new", before_rotation=Sender(address_key="old"))

    record = stores.sender_records.look_up(kept(sender=rotated, text="none"), site_ids=None)

    assert record.traits == (TraitRecord(trait=Trait.ADDRESS, key="new", seen=1, waiting=1),)


def test_other_names_of_the_same_address_or_e_mail_are_told_at_most_five(stores, kept):
    opened = kept(author=Author(name="Ann"))
    names = [f"Name {number}" for number in range(7)]
    for name in ("Ann", *names):
        kept(author=Author(name=name))
    kept(sender=Sender(network_key="n1"), author=Author(name="Neighbour"))

    record = stores.sender_records.look_up(opened, site_ids=None)

    assert len(record.other_names) == MAX_OTHER_NAMES
    assert set(record.other_names) <= set(names)


def test_the_last_three_comments_are_told_the_newest_first(stores, kept):
    opened = kept()
    others = [kept() for _ in range(4)]

    record = stores.sender_records.look_up(opened, site_ids=None)

    assert [case.comment.id for case in record.last] == [one.id for one in others[:3]]


def test_counting_ends_at_a_thousand(stores, kept):
    opened = kept()
    lot = [make_comment("more", sender=Sender(address_key="a1")) for _ in range(1_001)]
    keep_all(stores.comments, *lot)

    address = stores.sender_records.look_up(opened, site_ids=None).traits[0]

    assert (address.seen, address.capped) == (1_000, True)
