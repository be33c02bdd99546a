"""A comment is followed through its edits to its deletion, also when they come at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.case import CaseFilter, Order
from service.domain.comment import Lane
from service.moderation.revise import submit_version, withdraw_versions
from service.ports.comments import NewComment
from tests.factories import NOW, SITE, make_comment
from tests.fakes import Overridden, make_services


@pytest.fixture
def services():
    return make_services()


def version(text: str, *, second: int, own_id: str = "w-1") -> NewComment:
    comment = make_comment(text, site_comment_id=own_id, written_at=NOW + timedelta(seconds=second))
    return NewComment(comment=comment, lane=Lane.INTERACTIVE)


def shown(services) -> list[str]:
    page = services.cases.page(
        CaseFilter(site_id=SITE), order=Order.NEWEST, cursor=None, limit=1_000
    )
    return [case.comment.text for case in page.cases if case.withdrawn_at is None]


def test_of_edits_that_come_at_once_the_last_one_stays(services):
    edits = [version(f"Version {number}", second=number) for number in range(8)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda new: submit_version(new, services, by="test"), edits))

    assert "Version 7" in shown(services)
    submit_version(edits[-1], services, by="test")
    assert shown(services) == ["Version 7"]


@pytest.mark.parametrize("deleted_first", [False, True])
def test_an_edit_that_meets_a_deletion_is_not_kept(services, deleted_first):
    submit_version(version("First", second=0), services, by="test")
    acts = [
        lambda: withdraw_versions(SITE, "w-1", services, by="test"),
        lambda: submit_version(version("Second", second=0), services, by="test"),
    ]

    def look_up(*given):
        found = services.comments.find_by_site_ids(*given)
        if len(acts) > 1:
            acts.pop(not deleted_first)()
        return found

    comments = Overridden(services.comments, find_by_site_ids=look_up)
    meanwhile = replace(services, comments=comments)
    if deleted_first:
        submit_version(version("Second", second=0), meanwhile, by="test")
    else:
        withdraw_versions(SITE, "w-1", meanwhile, by="test")

    assert shown(services) == []


def test_a_comment_may_be_edited_more_often_than_is_looked_up_at_once(services, monkeypatch):
    monkeypatch.setattr("service.moderation.revise._NAMES_AT_ONCE", 5)
    for number in range(7):
        submit_version(version(f"Version {number}", second=number), services, by="test")
    last = shown(services)

    withdrawn = withdraw_versions(SITE, "w-1", services, by="test")

    assert last == ["Version 6"]
    assert withdrawn == 1
    assert shown(services) == []
