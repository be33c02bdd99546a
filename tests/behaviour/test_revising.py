"""A comment is followed through its edits; many are decided in one go."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.case import CaseFilter, Order
from service.domain.comment import CommentId, Lane
from service.domain.decision import ChosenBy, Ruling
from service.domain.errors import ConflictError
from service.moderation import decisions
from service.moderation.decisions import decide_together
from service.moderation.remembering import remember_open
from service.moderation.revise import submit_version, withdraw_versions
from service.ports.comments import NewComment
from tests.factories import NOW, OTHER_SITE, SITE, make_comment
from tests.fakes import Overridden, make_services, make_site, submit_to
from tests.functional.moderators import rulings


def version(text: str, *, second: int, own_id: str = "w-1") -> NewComment:
    comment = make_comment(text, site_comment_id=own_id, written_at=NOW + timedelta(seconds=second))
    return NewComment(comment=comment, lane=Lane.INTERACTIVE)


def shown(services) -> list[str]:
    page = services.cases.page(
        CaseFilter(site_ids=(SITE,)), order=Order.NEWEST, cursor=None, limit=99
    )
    return [case.comment.text for case in page.items if case.withdrawn_at is None]


def test_of_edits_that_come_at_once_the_last_one_stays(services):
    edits = [version(f"Version {number}", second=number) for number in range(8)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda new: submit_version(new, services, by="test"), edits))

    assert "Version 7" in shown(services)
    submit_version(edits[-1], services, by="test")
    assert shown(services) == ["Version 7"]


def delete(services) -> None:
    withdraw_versions(SITE, "w-1", services, by="test")


def edit(services) -> None:
    submit_version(version("Second", second=0), services, by="test")


@pytest.mark.parametrize(("act", "within"), [(delete, edit), (edit, delete)])
def test_an_edit_that_meets_a_deletion_is_not_kept(services, act, within):
    submit_version(version("First", second=0), services, by="test")
    acts = [within]

    def look_up(*given):
        found = services.comments.find_by_site_ids(*given)
        if acts:
            acts.pop()(services)
        return found

    comments = Overridden(services.comments, find_by_site_ids=look_up)
    act(replace(services, comments=comments))

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


PORTION = 5


@pytest.fixture(autouse=True)
def small_portions(monkeypatch):
    """Let a portion hold five comments."""
    monkeypatch.setattr(decisions, "PORTION", PORTION)
    monkeypatch.setattr(decisions, "_LEARNT_AT_ONCE", PORTION)


@pytest.fixture
def two_sites():
    return make_services(sites=[make_site(), make_site(id=OTHER_SITE, name="Kettle blog")])


def submit(two_sites, count=1, **changes) -> list[CommentId]:
    comments = [make_comment(**changes) for _ in range(count)]
    submit_to(two_sites, *comments)
    return [one.id for one in comments]


def reject(ids, two_sites, **changes):
    asked = {"decided_by": "ada", "what": ChosenBy.SELECTION} | changes
    return decide_together(ids, Ruling.REJECT, two_sites, **asked)


def test_a_bulk_decision_of_somebody_else_is_not_continued(two_sites):
    ids = submit(two_sites)
    reject([], two_sites, bulk_decision_id="str_1")

    with pytest.raises(ConflictError):
        reject(ids, two_sites, bulk_decision_id="str_1", decided_by="grace")

    assert rulings(two_sites, ids) == [None]


def test_histories_learn_a_portion_at_once_and_the_rest_from_upkeep(two_sites):
    ids = submit(two_sites, PORTION + 4)

    reject(ids, two_sites)
    open_then = len(two_sites.decisions.find_unremembered(limit=999))
    remember_open(two_sites)

    assert open_then == 4
    assert two_sites.decisions.find_unremembered(limit=999) == []
