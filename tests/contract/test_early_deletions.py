"""Holds every comment store to what it promises of deletions that come before their comments."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from service.domain.comment import Lane, SiteId
from service.ports.comments import AddOutcome, NewComment
from service.stores.sql import comments as sql_comments
from tests.factories import NOW, SITE, make_comment

OWN = "github:IC_1"
LATER = NOW + timedelta(seconds=1)


def new(**changes) -> NewComment:
    values = {"site_comment_id": OWN, "written_at": NOW} | changes
    return NewComment(comment=make_comment("Quastenflosser.", **values), lane=Lane.BULK)


def note(stores, site_comment_id=OWN, site_id=SITE, at=NOW, deleted_at=NOW):
    stores.comments.note_deletion(site_id, site_comment_id, deleted_at=deleted_at, at=at)


@pytest.mark.parametrize(
    ("comment", "outcome"),
    [
        ({}, AddOutcome.DELETED),
        ({"written_at": None}, AddOutcome.DELETED),
        ({"site_comment_id": f"{OWN}@2"}, AddOutcome.DELETED),
        ({"written_at": LATER}, AddOutcome.NEW),
        ({"site_comment_id": "github:IC_2"}, AddOutcome.NEW),
        ({"site_comment_id": None}, AddOutcome.NEW),
    ],
)
def test_what_was_written_before_its_deletion_is_never_kept(stores, comment, outcome):
    note(stores)
    sent = new(**comment)

    answers = stores.comments.add([new(site_comment_id="another"), sent])

    assert [answer.outcome for answer in answers] == [AddOutcome.NEW, outcome]
    assert answers[1].comment_id == sent.comment.id
    kept = stores.cases.find([sent.comment.id])
    assert [case.comment.text for case in kept] == (
        ["Quastenflosser."] if outcome is AddOutcome.NEW else []
    )


def test_a_deletion_at_another_site_is_none_here(stores):
    note(stores, site_id=SiteId("site-2"))

    assert stores.comments.add([new()])[0].outcome is AddOutcome.NEW


@pytest.mark.parametrize("takes_back", ["forget", "prune"])
def test_a_deletion_that_is_forgotten_is_none(stores, takes_back):
    note(stores)
    if takes_back == "forget":
        stores.comments.forget_deletion(SITE, OWN)
    else:
        assert stores.comments.prune_deletions(noted_before=NOW) == 0
        assert stores.comments.prune_deletions(noted_before=LATER) == 1

    assert stores.comments.add([new()])[0].outcome is AddOutcome.NEW


def test_the_newest_deletions_of_a_site_are_remembered(stores, monkeypatch):
    monkeypatch.setattr(sql_comments, "MOST_EARLY_DELETIONS", 2)
    for number in range(4):
        note(stores, f"own-{number}", at=NOW + timedelta(seconds=number))
    note(stores, "elsewhere", site_id=SiteId("site-2"))

    answers = stores.comments.add([new(site_comment_id=f"own-{number}") for number in range(4)])

    assert [a.outcome for a in answers] == [AddOutcome.NEW] * 2 + [AddOutcome.DELETED] * 2


def test_a_deletion_and_a_creation_at_once_leave_no_text(stores):
    for number in range(20):
        own, both = f"own-{number}", threading.Barrier(2)
        sent = new(site_comment_id=own)

        def delete(own=own, both=both):
            both.wait()
            note(stores, own)
            for comment_id in stores.comments.find_by_site_ids(SITE, [own]).values():
                stores.personal_data.withdraw([comment_id], at=NOW)

        def create(sent=sent, both=both):
            both.wait()
            stores.comments.add([sent])

        with ThreadPoolExecutor(2) as pool:
            for done in (pool.submit(delete), pool.submit(create)):
                done.result()

        assert all(not case.comment.text for case in stores.cases.find([sent.comment.id]))
