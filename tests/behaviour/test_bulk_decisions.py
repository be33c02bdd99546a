"""Many comments are decided in one go, and taken back in one."""

from __future__ import annotations

import pytest

from service.domain.comment import CommentId, SiteId
from service.domain.decision import ChosenBy, Ruling
from service.domain.errors import ConflictError, InvalidInputError
from service.moderation import decisions
from service.moderation.decisions import decide_together
from service.moderation.remembering import remember_open
from tests.factories import make_comment
from tests.fakes import make_services, make_site, submit_to

OTHER_SITE = SiteId("site-2")
PORTION = 5


@pytest.fixture(autouse=True)
def small_portions(monkeypatch):
    """Let a portion hold five comments."""
    monkeypatch.setattr(decisions, "PORTION", PORTION)
    monkeypatch.setattr(decisions, "_LEARNT_AT_ONCE", PORTION)


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id=OTHER_SITE, name="Kettle blog")])


def submit(services, count=1, **changes) -> list[CommentId]:
    comments = [make_comment(**changes) for _ in range(count)]
    submit_to(services, *comments)
    return [one.id for one in comments]


def reject(ids, services, **changes):
    asked = {"decided_by": "ada", "what": ChosenBy.SELECTION} | changes
    return decide_together(ids, Ruling.REJECT, services, **asked)


def rulings(ids, services):
    decisions = [case.decision for case in services.cases.find(ids)]
    return [one.ruling if one else None for one in decisions]


def acts(services):
    return [(one.actor, one.act, one.detail) for one in services.audit_log.recent(limit=9)][::-1]


def test_comments_of_several_portions_are_decided_and_logged_as_one_act(services):
    ids = submit(services, PORTION + 3)

    bulk_decision = reject(ids, services, note="One campaign.")

    assert set(rulings(ids, services)) == {Ruling.REJECT}
    assert (bulk_decision.n_decided, bulk_decision.n_left_out, bulk_decision.n_in_force) == (
        PORTION + 3,
        0,
        PORTION + 3,
    )
    assert services.cases.get(ids[-1]).decision.note == "One campaign."
    assert acts(services) == [("ada", "reject together", "8 comments")]


def test_a_bulk_decision_of_somebody_else_is_not_continued(services):
    ids = submit(services)
    reject([], services, bulk_decision_id="str_1")

    with pytest.raises(ConflictError):
        reject(ids, services, bulk_decision_id="str_1", decided_by="grace")

    assert rulings(ids, services) == [None]


def test_a_note_longer_than_anybody_reads_is_refused_before_anything_is_decided(services):
    ids = submit(services)

    with pytest.raises(InvalidInputError, match="note"):
        reject(ids, services, note="x" * 501)

    assert services.bulk_decisions.recent(site_ids=None, limit=9) == []


def test_histories_learn_a_portion_at_once_and_the_rest_from_upkeep(services):
    ids = submit(services, PORTION + 4)

    reject(ids, services)
    open_then = len(services.decisions.find_unremembered(limit=999))
    remember_open(services)

    assert open_then == 4
    assert services.decisions.find_unremembered(limit=999) == []
