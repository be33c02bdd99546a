"""Holds the rulings that an import takes over to the same promises on every database."""

from __future__ import annotations

import pytest

from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.moderation.decisions import take_over_rulings
from service.ports.services import Services
from tests.factories import NOW, SITE, keep_all, make_comment, make_decision
from tests.fakes import make_services


@pytest.fixture
def services(stores) -> Services:
    """Give services over stores of each kind."""
    return make_services(stores=stores, judges=False)


def keep(services, *texts):
    comments = [make_comment(text, id=CommentId(text)) for text in texts]
    keep_all(services.comments, *comments)


def test_rulings_are_taken_over_once_logged_and_learnt(services):
    keep(services, "a", "b", "c")
    rulings = {"a": Ruling.REJECT, "b": Ruling.APPROVE, "c": Ruling.REJECT, "gone": Ruling.REJECT}

    first, again = (
        take_over_rulings(rulings, services, site_id=SITE, decided_by="import") for _ in range(2)
    )

    found = {case.comment.id: case.decision for case in services.cases.find(["a", "b", "c"])}
    log = services.audit_log.recent()
    assert (first, again) == (3, 0)
    assert {key: one.ruling for key, one in found.items()} == {key: rulings[key] for key in found}
    assert {(entry.actor, entry.act, entry.subject) for entry in log} == {
        ("import", "approve", "b"), ("import", "reject", "a"), ("import", "reject", "c"),
    }  # fmt: skip
    assert services.decisions.find_unremembered(limit=10) == []


def test_what_a_person_ruled_was_withdrawn_or_is_another_sites_stays(services):
    keep(services, "ruled", "withdrawn")
    keep_all(services.comments, make_comment("x", id=CommentId("other"), site_id="site-2"))
    services.decisions.add(make_decision("dec_1", CommentId("ruled"), Ruling.APPROVE))
    services.personal_data.withdraw([CommentId("withdrawn")], at=NOW)
    rulings = dict.fromkeys(("ruled", "withdrawn", "other"), Ruling.REJECT)

    taken = take_over_rulings(rulings, services, site_id=SITE, decided_by="import")

    (case,) = services.cases.find([CommentId("ruled")])
    assert taken == 0
    assert [one.decided_by for one in case.decisions] == ["ada"]
    assert services.audit_log.recent() == []
