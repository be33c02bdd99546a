"""Holds every history store to what it keeps of accounts, and of what they offered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Comment, Edit, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.sender import Conduct, Record, TrackRecord
from service.stores.valkey.history import ValkeyHistoryStore
from tests.factories import NOW, make_comment

SENDER = Sender(account_key="k1", email_key="e1", name_key="m1")
OFFER = "Best valves with 50% discount, order now at https://valve-shop.example.com"
SOURCE = "The drawing is at https://ana-karlsson.example.org/radiators, I measured it twice."
PRAISE = "Great post! Thanks for sharing such valuable and informative content."


def said(text: str = SOURCE, **changes) -> Comment:
    return make_comment(text, **({"sender": SENDER} | changes))


def conduct_of(history: ValkeyHistoryStore, *, days: float = 0, **changes) -> Conduct | None:
    at = NOW + timedelta(days=days)
    return history.gather([said(**changes)], now=at)[0].conduct


def both(**counts: float) -> TrackRecord:
    return TrackRecord(here=Record(**counts), everywhere=Record(**counts))


def test_an_approval_counts_apart_for_what_was_shown(history):
    history.learn("d1", said(SOURCE), Ruling.APPROVE, at=NOW)
    history.learn("d2", said(OFFER), Ruling.APPROVE, at=NOW)

    (seen,) = history.gather([said(SOURCE)], now=NOW)

    assert seen.account == both(approved=2)
    assert replace(seen.email.everywhere, seen_hour=0, seen_day=0) == Record(approved=2)
    assert (seen.account_offers, seen.email_offers) == (both(approved=1), both(approved=1))


def test_an_undone_decision_on_an_offer_is_taken_back_from_both(history):
    history.learn("d1", said(OFFER), Ruling.APPROVE, at=NOW)
    history.unlearn("d1", said(OFFER), Ruling.APPROVE, at=NOW)

    (seen,) = history.gather([said(OFFER)], now=NOW)

    assert (seen.account, seen.account_offers) == (TrackRecord(), TrackRecord())


def test_what_an_account_did_before_is_counted_and_its_own_comment_is_not(history):
    for text in (SOURCE, OFFER, PRAISE, PRAISE):
        history.gather([said(text)], now=NOW)
    edited = (Edit.UNAPPROVED, Edit.APPROVED, Edit.ADDED_LINK, Edit.ADDED_OFFER)
    history.gather([said(OFFER, edit=edit) for edit in edited], now=NOW + timedelta(days=30))

    conduct = conduct_of(history, days=90)

    assert conduct is not None
    assert (conduct.remarks, conduct.offers) == (3, 1)
    assert conduct.quiet_days == 60


def test_earlier_comments_of_a_batch_count_for_the_later_ones(history):
    batch = [said(PRAISE), said(OFFER), said(SOURCE)]

    seen = [one.conduct for one in history.gather(batch, now=NOW)]
    again = [one.conduct for one in history.gather(batch, now=NOW)]

    assert seen[0] is None
    assert [(one.remarks, one.offers) for one in seen[1:]] == [(1, 0), (1, 1)]
    assert [(one.remarks, one.offers) for one in again] == [(2, 1)] * 3


def test_pitches_of_what_a_comment_names_are_counted(history):
    texts = ("I like Ventilo.", "We built Ventilo for exactly this.", PRAISE, "Ventilo would do.")

    seen = [history.gather([said(text)], now=NOW)[0].conduct for text in texts]

    assert [one.repeats for one in seen[1:]] == [0, 0, 1]


def test_an_account_that_was_away_for_400_days_is_new_again(history):
    history.gather([said()], now=NOW)

    assert conduct_of(history, days=399) is not None
    assert conduct_of(history, days=399 + 402) is None


def test_an_account_of_before_a_rotation_goes_on(history):
    history.gather([said(PRAISE)], now=NOW)
    rotated = Sender(account_key="k2", before_rotation=SENDER)
    history.gather([said(PRAISE, sender=rotated)], now=NOW)

    conduct = conduct_of(history, sender=rotated)

    assert conduct is not None
    assert conduct.remarks == 2


@pytest.mark.parametrize(
    "known",
    [
        Sender(account_key="k1"),
        Sender(email_key="e1"),
        Sender(name_key="m1"),
        Sender(before_rotation=Sender(email_key="e1")),
    ],
)
def test_a_forgotten_person_has_no_account_left_however_they_are_named(history, known):
    history.learn("d1", said(OFFER), Ruling.APPROVE, at=NOW)
    history.gather([said()], now=NOW)
    assert len(history.conducts(known, now=NOW)) == 1

    history.forget(known)

    assert history.conducts(known, now=NOW) == {}
    (seen,) = history.gather([said()], now=NOW)
    assert seen.conduct is None
    assert (seen.account, seen.account_offers) == (TrackRecord(), TrackRecord())


def test_one_account_at_two_sites_is_two(history):
    history.gather([said(site_id=SiteId("site-2"), sender=Sender(account_key="k2"))], now=NOW)

    assert conduct_of(history) is None
