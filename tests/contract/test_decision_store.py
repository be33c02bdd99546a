"""Holds every decision store to its contract."""

import itertools
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.case import CaseFilter, State
from service.domain.comment import CommentId
from service.domain.decision import DecidedComment, Decision, Ruling
from service.domain.delivery import EventKind
from service.domain.errors import ConflictError, NotFoundError
from service.ports.audit import AuditEntry
from tests import factories
from tests.contract.conftest import at_once
from tests.factories import NOW, keep_one, make_delivery, make_verdict

_numbers = itertools.count(1)


def make_decision(comment_id: CommentId, ruling: Ruling = Ruling.REJECT, **changes) -> Decision:
    return factories.make_decision(f"d{next(_numbers):04d}", comment_id, ruling, **changes)


@pytest.fixture
def kept(stores) -> CommentId:
    """Give a comment without a verdict."""
    return keep_one(stores)


def test_a_second_decision_with_the_same_id_is_refused(stores, kept):
    decision = make_decision(kept)
    stores.decisions.add(decision)

    with pytest.raises(ConflictError):
        stores.decisions.add(replace(decision, ruling=Ruling.APPROVE))

    assert stores.cases.get(kept).decisions == (decision,)


def test_an_undone_decision_stays_with_who_undid_it_and_when(stores, kept):
    decision = make_decision(kept)
    stores.decisions.add(decision)
    later = NOW + timedelta(minutes=1)

    [undone] = stores.decisions.undo(kept, by="grace", at=later)

    assert undone == replace(decision, undone_at=later, undone_by="grace")
    case = stores.cases.get(kept)
    assert case.decisions == (undone,)
    assert case.decision is None


def test_another_ruling_replaces_the_one_in_force_for_good_and_says_which(stores, kept):
    later = NOW + timedelta(minutes=1)
    first = make_decision(kept)
    second = make_decision(kept, ruling=Ruling.APPROVE, decided_by="grace", decided_at=later)

    changed = [*stores.decisions.add(first), *stores.decisions.add(second)]

    undone = replace(first, undone_at=later, undone_by="grace")
    assert changed == [first, undone, second]
    assert stores.cases.get(kept).decisions == (undone, second)
    stores.decisions.undo(kept, by="ada", at=NOW)
    assert stores.cases.get(kept).decision is None
    assert stores.cases.count(CaseFilter(state=State.DECIDED)) == 0


def test_ruling_on_nothing_or_undoing_nothing_is_refused(stores, kept):
    with pytest.raises(NotFoundError):
        stores.decisions.add(make_decision(CommentId("no")))
    with pytest.raises(NotFoundError):
        stores.decisions.undo(kept, by="ada", at=NOW)
    with pytest.raises(NotFoundError):
        stores.decisions.undo(CommentId("no"), by="ada", at=NOW)

    assert stores.cases.get(kept).decisions == ()


def test_of_several_who_undo_one_decision_exactly_one_does(stores, kept):
    stores.decisions.add(make_decision(kept))

    def undo() -> bool:
        try:
            return bool(stores.decisions.undo(kept, by="ada", at=NOW))
        except NotFoundError:
            return False

    assert sum(at_once(*[undo] * 12)) == 1


def test_of_decisions_made_at_the_same_time_all_are_kept_and_one_is_in_force(stores, kept):
    stores.verdicts.add([make_verdict(kept)], audit=frozenset())

    at_once(*(partial(stores.decisions.add, make_decision(kept)) for _ in range(12)))

    decisions = stores.cases.get(kept).decisions
    assert len(decisions) == 12
    assert sum(d.undone_at is None for d in decisions) == 1
    assert stores.cases.count(CaseFilter(needs_review=True)) == 0


def test_where_nothing_can_be_told_nothing_was_decided(stores):
    fresh, decided = keep_one(stores), keep_one(stores)
    decision = make_decision(decided)
    stores.decisions.add(decision)
    stray = make_delivery(CommentId("no"), event=EventKind.DECISION)

    with pytest.raises(NotFoundError):
        stores.decisions.add(make_decision(fresh), deliveries=[stray])
    with pytest.raises(NotFoundError):
        stores.decisions.undo(decided, by="ada", at=NOW, deliveries=[stray])

    assert stores.cases.get(fresh).decisions == ()
    assert stores.cases.get(decided).decisions == (decision,)


def test_a_decision_that_was_not_seen_is_not_replaced(stores, kept):
    standing = make_decision(kept, ruling=Ruling.APPROVE)
    stores.decisions.add(standing, instead_of=())

    for seen in ((), ("d0",)):
        with pytest.raises(ConflictError):
            stores.decisions.add(make_decision(kept), instead_of=seen)
    assert stores.cases.get(kept).decisions == (standing,)

    replaced, _ = stores.decisions.add(make_decision(kept), instead_of=[standing.id])
    assert replaced.id == standing.id


def test_what_teaches_is_judged_kept_in_force_and_of_people_in_the_order_of_decisions(stores):
    judged, degraded, withdrawn, undone, policy, unjudged = (keep_one(stores) for _ in range(6))
    verdicts = [make_verdict(one) for one in (judged, withdrawn, undone, policy)]
    verdicts.append(make_verdict(degraded, degraded_by=("history",)))
    stores.verdicts.add(verdicts, audit=frozenset())
    for one in (unjudged, undone, degraded, withdrawn, judged):
        stores.decisions.add(make_decision(one))
    stores.decisions.add(make_decision(policy, decided_by=CAMPAIGN_POLICY))
    stores.decisions.undo(undone, by="ada", at=NOW)
    stores.personal_data.withdraw([withdrawn], at=NOW)

    before = stores.decisions.find_training_decisions(limit=9)
    stores.verdicts.add([make_verdict(unjudged)], audit=frozenset())
    after = stores.decisions.find_training_decisions(limit=9)

    assert [comment_id for _, comment_id in before] == [judged]
    assert [comment_id for _, comment_id in after] == [unjudged, judged]
    assert after == sorted(after)
    assert stores.decisions.find_training_decisions(limit=1) == after[1:]


def test_every_decision_and_every_act_shows_in_what_changed_last(stores, kept):
    seen = [stores.decisions.last_change()]

    stores.decisions.add(make_decision(kept))
    seen.append(stores.decisions.last_change())
    stores.audit_log.append(AuditEntry(at=NOW, actor="ada", act="undo", subject=kept))
    seen.append(stores.decisions.last_change())

    assert seen == sorted(set(seen))


# What histories do not know yet, and what is in force.


def unremembered(stores) -> list[str]:
    return [one.decision.id for one in stores.decisions.find_unremembered(limit=100)]


def test_a_new_decision_waits_to_be_remembered_together_with_its_comment(stores, kept):
    decision = make_decision(kept)

    stores.decisions.add(decision)

    waiting = stores.decisions.find_unremembered(limit=100)
    assert waiting == [DecidedComment(decision=decision, comment=stores.cases.get(kept).comment)]


def test_whoever_learnt_of_the_making_too_late_does_not_hide_the_undoing(stores, kept):
    decision, other = make_decision(kept), make_decision(keep_one(stores))
    for one in (decision, other):
        stores.decisions.add(one)
    [undone] = stores.decisions.undo(kept, by="ada", at=NOW)

    stores.decisions.mark_remembered([decision])
    before = unremembered(stores)
    for _ in range(2):
        stores.decisions.mark_remembered([undone])

    assert before == [decision.id, other.id]
    assert unremembered(stores) == [other.id]


def test_of_the_decisions_in_force_every_page_brings_the_next_ones(stores):
    kept = [keep_one(stores) for _ in range(5)]
    made = [make_decision(comment_id) for comment_id in kept]
    for decision in made:
        stores.decisions.add(decision)
    stores.decisions.undo(kept[1], by="ada", at=NOW)

    pages, after = [], 0
    while after is not None:
        page = stores.decisions.find_in_force(after=after, limit=2)
        pages.append([one.decision.id for one in page.items])
        after = page.next_cursor

    assert pages == [[made[0].id, made[2].id], [made[3].id, made[4].id], []]
