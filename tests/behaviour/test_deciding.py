"""What a moderator's ruling does, told over SQLite."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from service.domain.comment import Lane, SiteId
from service.domain.decision import Action, Mode, Ruling, choose_action
from service.domain.errors import ConflictError, NotFoundError
from service.domain.sender import make_sender
from service.domain.verdict import Outcome
from service.moderation.intake.withdraw import withdraw_comment
from service.moderation.review.decide import decide_comment, undo_decision
from service.moderation.review.review import undo_as_seen
from tests.factories import make_comment
from tests.fakes import Overridden, make_services, submit_to


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def comment(services):
    sender = make_sender(address="192.0.2.7", email="mara@example.org", secret=b"s")
    kept = make_comment(sender=sender)
    submit_to(services, kept, lane=Lane.INTERACTIVE)
    return kept


def test_another_sites_comment_cannot_be_decided(services, comment):
    with pytest.raises(NotFoundError):
        decide_comment(
            comment.id, Ruling.REJECT, services, decided_by="mod", site_id=SiteId("other")
        )


def test_a_withdrawn_comment_is_decided_no_more_and_nothing_is_undone(services, comment):
    decided = decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    withdraw_comment(comment.id, services, by="site")

    for ruling in Ruling:
        with pytest.raises(ConflictError, match="withdrawn"):
            decide_comment(comment.id, ruling, services, decided_by="mod")
    with pytest.raises(ConflictError, match="withdrawn"):
        undo_decision(comment.id, services, undone_by="mod")

    assert services.cases.get(comment.id).decisions == decided.decisions


@pytest.mark.parametrize("is_on_page", [False, True])
def test_an_undo_takes_back_nothing_that_was_decided_since_it_was_looked_at(
    services, comment, is_on_page
):
    seen = decide_comment(comment.id, Ruling.REJECT, services, decided_by="ada").decision
    decisions = services.decisions

    def undo_late(*given, **named):
        decide_comment(comment.id, Ruling.APPROVE, services, decided_by="bob")
        return decisions.undo(*given, **named)

    slow = replace(services, decisions=Overridden(decisions, undo=undo_late))

    undo = partial(undo_as_seen, seen_decision_id=seen.id) if is_on_page else undo_decision

    with pytest.raises(ConflictError):
        undo(comment.id, slow, undone_by="ada")

    stands = services.cases.get(comment.id).decision
    assert (stands.ruling, stands.decided_by) == (Ruling.APPROVE, "bob")
    acts = [(one.actor, one.act) for one in services.audit_log.recent(subject=comment.id)]
    assert acts == [("bob", "approve"), ("bob", "undo"), ("ada", "reject")]


@pytest.mark.parametrize(
    ("mode", "outcome", "ruling", "action"),
    [
        (Mode.OBSERVE, None, None, Action.PUBLISH),
        (Mode.OBSERVE, Outcome.SPAM, None, Action.PUBLISH),
        (Mode.OBSERVE, Outcome.SPAM, Ruling.REJECT, Action.REJECT),
        (Mode.HOLD, None, None, Action.HOLD),
        (Mode.HOLD, Outcome.HAM, None, Action.PUBLISH),
        (Mode.HOLD, Outcome.UNSURE, None, Action.HOLD),
        (Mode.HOLD, Outcome.SPAM, None, Action.HOLD),
        (Mode.HOLD, Outcome.SPAM, Ruling.APPROVE, Action.PUBLISH),
        (Mode.ENFORCE, None, None, Action.HOLD),
        (Mode.ENFORCE, Outcome.SPAM, None, Action.REJECT),
        (Mode.ENFORCE, Outcome.UNSURE, None, Action.HOLD),
        (Mode.ENFORCE, Outcome.HAM, Ruling.REJECT, Action.REJECT),
    ],
)
def test_the_action_follows_mode_outcome_and_ruling(mode, outcome, ruling, action):
    assert choose_action(mode, outcome, ruling) is action
