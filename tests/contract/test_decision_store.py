"""Holds every decision store to its contract."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.case import CaseFilter, State
from service.domain.comment import CommentId
from service.domain.decision import Decision, Ruling
from service.domain.delivery import Delivery, DeliveryForm, EventKind
from service.domain.errors import ConflictError, NotFoundError
from service.ports.audit import AuditEntry
from tests.factories import NOW, SITE, keep_all, make_comment, make_verdict

_numbers = itertools.count(1)


def keep(stores) -> CommentId:
    comment = make_comment()
    keep_all(stores.comments, comment)
    return comment.id


def make_decision(comment_id: CommentId, **changes) -> Decision:
    values = {
        "id": f"d{next(_numbers):04d}",
        "comment_id": comment_id,
        "ruling": Ruling.REJECT,
        "decided_by": "ada",
        "decided_at": NOW,
    }
    return Decision(**(values | changes))


def test_a_decision_comes_back_as_it_was(stores):
    kept = keep(stores)
    decision = make_decision(kept, note="Sells watches ⌚ again")

    stores.decisions.add(decision)

    case = stores.cases.get(kept)
    assert case.decisions == (decision,)
    assert case.state is State.DECIDED


def test_a_decision_on_a_comment_that_is_not_kept_is_refused(stores):
    with pytest.raises(NotFoundError):
        stores.decisions.add(make_decision(CommentId("no")))


def test_a_second_decision_with_the_same_id_is_refused(stores):
    kept = keep(stores)
    decision = make_decision(kept)
    stores.decisions.add(decision)

    with pytest.raises(ConflictError):
        stores.decisions.add(replace(decision, ruling=Ruling.APPROVE))

    assert stores.cases.get(kept).decisions == (decision,)


def test_an_undone_decision_stays_with_who_undid_it_and_when(stores):
    kept = keep(stores)
    decision = make_decision(kept)
    stores.decisions.add(decision)
    later = NOW + timedelta(minutes=1)

    undone = stores.decisions.undo(kept, by="grace", at=later)

    assert undone == replace(decision, undone_at=later, undone_by="grace")
    case = stores.cases.get(kept)
    assert case.decisions == (undone,)
    assert case.decision is None


def test_another_ruling_replaces_the_one_in_force_and_says_which(stores):
    kept = keep(stores)
    later = NOW + timedelta(minutes=1)
    first = make_decision(kept)
    second = make_decision(kept, ruling=Ruling.APPROVE, decided_by="grace", decided_at=later)

    replaced = [stores.decisions.add(first), stores.decisions.add(second)]

    undone = replace(first, undone_at=later, undone_by="grace")
    assert replaced == [None, undone]
    assert stores.cases.get(kept).decisions == (undone, second)


def test_undoing_a_decision_does_not_bring_the_one_before_back(stores):
    kept = keep(stores)
    stores.decisions.add(make_decision(kept))
    stores.decisions.add(make_decision(kept, ruling=Ruling.APPROVE))

    stores.decisions.undo(kept, by="ada", at=NOW)

    assert stores.cases.get(kept).decision is None
    assert stores.cases.count(CaseFilter(state=State.DECIDED)) == 0


def test_undoing_nothing_is_refused(stores):
    kept = keep(stores)

    with pytest.raises(NotFoundError):
        stores.decisions.undo(kept, by="ada", at=NOW)
    with pytest.raises(NotFoundError):
        stores.decisions.undo(CommentId("no"), by="ada", at=NOW)

    assert stores.cases.get(kept).decisions == ()


def test_a_decision_takes_a_comment_from_the_review_queue_and_undo_returns_it(stores):
    kept = keep(stores)
    stores.verdicts.add([make_verdict(kept)], audit=frozenset())
    waiting = CaseFilter(needs_review=True)
    seen = [stores.cases.count(waiting)]

    stores.decisions.add(make_decision(kept))
    seen.append(stores.cases.count(waiting))
    stores.decisions.undo(kept, by="ada", at=NOW)
    seen.append(stores.cases.count(waiting))

    assert seen == [1, 0, 1]


def test_a_comment_decided_before_its_verdict_is_judged_all_the_same_but_not_reviewed(stores):
    kept = keep(stores)
    stores.decisions.add(make_decision(kept))

    attempts = stores.comments.load_unjudged([kept])
    stored = stores.verdicts.add([make_verdict(kept)], audit=frozenset([kept]))

    assert [a.comment.id for a in attempts] == [kept]
    assert stored == [kept]
    assert stores.cases.count(CaseFilter(needs_review=True)) == 0
    assert stores.cases.get(kept).state is State.DECIDED


def test_of_several_who_undo_one_decision_exactly_one_does(stores):
    kept = keep(stores)
    stores.decisions.add(make_decision(kept))

    def undo(number: int) -> bool:
        try:
            stores.decisions.undo(kept, by=f"moderator-{number}", at=NOW)
        except NotFoundError:
            return False
        return True

    with ThreadPoolExecutor(6) as pool:
        undone = list(pool.map(undo, range(12)))

    assert sum(undone) == 1


def test_of_decisions_made_at_the_same_time_all_are_kept_and_one_is_in_force(stores):
    kept = keep(stores)
    stores.verdicts.add([make_verdict(kept)], audit=frozenset())

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(stores.decisions.add, [make_decision(kept) for _ in range(12)]))

    decisions = stores.cases.get(kept).decisions
    assert len(decisions) == 12
    assert sum(d.undone_at is None for d in decisions) == 1
    assert stores.cases.count(CaseFilter(needs_review=True)) == 0


def test_where_nothing_can_be_told_nothing_was_decided(stores):
    fresh, decided = keep(stores), keep(stores)
    decision = make_decision(decided)
    stores.decisions.add(decision)
    stray = make_message(CommentId("no"), "m1")

    with pytest.raises(NotFoundError):
        stores.decisions.add(make_decision(fresh), deliveries=[stray])
    with pytest.raises(NotFoundError):
        stores.decisions.undo(decided, by="ada", at=NOW, deliveries=[stray])

    assert stores.cases.get(fresh).decisions == ()
    assert stores.cases.get(decided).decisions == (decision,)


def make_message(comment_id: CommentId, name: str) -> Delivery:
    return Delivery(
        id=name,
        seq=0,
        site_id=SITE,
        comment_id=comment_id,
        event=EventKind.DECISION,
        form=DeliveryForm.STANDARD_WEBHOOK,
        url="https://blog.example/hook",
        payload="{}",
        created_at=NOW,
    )


def test_a_decision_that_was_not_seen_is_not_replaced(stores):
    kept = keep(stores)
    standing = make_decision(kept, ruling=Ruling.APPROVE)
    stores.decisions.add(standing, instead_of=())

    for seen in ((), ("d0",)):
        with pytest.raises(ConflictError):
            stores.decisions.add(make_decision(kept), instead_of=seen)
    assert stores.cases.get(kept).decisions == (standing,)

    replaced = stores.decisions.add(make_decision(kept), instead_of=[standing.id])
    assert replaced is not None
    assert replaced.id == standing.id


def test_what_teaches_is_judged_kept_in_force_and_of_people_in_the_order_of_decisions(stores):
    judged, degraded, withdrawn, undone, policy, unjudged = (keep(stores) for _ in range(6))
    verdicts = [make_verdict(one) for one in (judged, withdrawn, undone, policy)]
    verdicts.append(make_verdict(degraded, degraded_by=("history",)))
    stores.verdicts.add(verdicts, audit=frozenset())
    for one in (unjudged, undone, degraded, withdrawn, judged):
        stores.decisions.add(make_decision(one))
    stores.decisions.add(make_decision(policy, decided_by=CAMPAIGN_POLICY))
    stores.decisions.undo(undone, by="ada", at=NOW)
    stores.comments.withdraw(withdrawn, at=NOW)

    before = stores.decisions.find_training_decisions(limit=9)
    stores.verdicts.add([make_verdict(unjudged)], audit=frozenset())
    after = stores.decisions.find_training_decisions(limit=9)

    assert [comment_id for _, comment_id in before] == [judged]
    assert [comment_id for _, comment_id in after] == [unjudged, judged]
    assert after == sorted(after)
    assert stores.decisions.find_training_decisions(limit=1) == after[1:]


def test_every_decision_and_every_act_shows_in_what_changed_last(stores):
    kept = keep(stores)
    seen = [stores.decisions.last_change()]

    stores.decisions.add(make_decision(kept))
    seen.append(stores.decisions.last_change())
    stores.audit_log.append(AuditEntry(at=NOW, actor="ada", act="undo", subject=kept))
    seen.append(stores.decisions.last_change())

    assert seen == sorted(set(seen))
