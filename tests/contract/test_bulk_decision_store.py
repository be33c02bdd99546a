"""Holds every store to the contract of bulk decisions."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from service.domain.case import CaseFilter
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, ChosenBy, Decision, Ruling
from service.domain.delivery import Delivery, DeliveryState, EventKind
from service.domain.errors import NotFoundError
from service.domain.verdict import Outcome
from service.moderation.decisions import take_over_rulings
from tests.contract.conftest import at_once, told
from tests.factories import (
    NOW,
    OTHER_SITE,
    SITE,
    keep_one,
    make_attempt,
    make_decision,
    make_delivery,
)
from tests.fakes import make_services

LATER = NOW + timedelta(minutes=1)
IN_TIME = NOW + timedelta(seconds=30)


def keep(stores, count: int, site_id: SiteId = SITE) -> list[CommentId]:
    return [keep_one(stores, Outcome.UNSURE, site_id=site_id) for _ in range(count)]


def make_bulk_decision(name: str = "str_1", **changes) -> BulkDecision:
    values = {
        "what": ChosenBy.SELECTION,
        "ruling": Ruling.REJECT,
        "decided_by": "ada",
        "decided_at": NOW,
    }
    return BulkDecision(id=name, **(values | changes))


def make_decisions(ids, bulk_decision_id: str | None = "str_1", **changes) -> list[Decision]:
    number = changes.pop("number", 1)
    changes["bulk_decision_id"] = bulk_decision_id
    return [make_decision(f"{one}-{bulk_decision_id}-{number}", one, **changes) for one in ids]


def make_message(decision: Decision, name: str, **changes) -> Delivery:
    """Return a message that tells of a decision once its undo time has passed."""
    values = {"event": EventKind.DECISION, "next_try_at": IN_TIME, "decision_id": decision.id}
    return make_delivery(decision.comment_id, id=name, **(values | changes))


def make_undoing(decision: Decision, name: str, **changes) -> Delivery:
    return make_message(decision, name, **({"decision_id": None, "next_try_at": None} | changes))


def tell_one(stores) -> Decision:
    """Have a comment rejected, and a message of it wait."""
    [decision] = make_decisions(keep(stores, 1), None)
    stores.decisions.add(decision, deliveries=[make_message(decision, "m1")])
    return decision


def try_to_send(stores, at, *, status: int | None = 204) -> list[str]:
    """Take what is due and record an attempt of each; return what was due."""
    due = stores.deliveries.take_due(at, until=at + timedelta(seconds=45), limit=99)
    for one in due:
        attempt = make_attempt(one.id, at=at, status=status)
        state = DeliveryState.DELIVERED if status else DeliveryState.WAITING
        stores.deliveries.record(attempt, state=state, next_try_at=LATER)
    return [one.id for one in due]


def test_a_bulk_decision_counts_what_it_decided_left_out_and_what_stands_and_knows_its_sites(
    stores,
):
    ids = [*keep(stores, 2), *keep(stores, 1, OTHER_SITE)]
    begun = stores.bulk_decisions.begin(make_bulk_decision(n_left_out=4))

    stores.decisions.add_many(make_decisions(ids[:1]))
    stores.decisions.add_many(make_decisions(ids[1:]))
    stores.decisions.undo(ids[0], by="grace", at=LATER)

    assert begun == make_bulk_decision(n_left_out=4)
    expected = make_bulk_decision(
        n_decided=3, n_left_out=1, n_in_force=2, site_ids=(SITE, OTHER_SITE)
    )
    assert stores.bulk_decisions.get("str_1") == expected
    assert stores.bulk_decisions.recent(site_ids=None, limit=9) == [expected]


def test_what_is_ruled_alike_withdrawn_or_not_kept_is_left_out_and_the_other_ruling_replaced(
    stores,
):
    alike, otherwise, withdrawn, open_one = keep(stores, 4)
    stores.decisions.add_many(make_decisions([alike], None))
    before = make_decisions([otherwise], None, ruling=Ruling.APPROVE)
    stores.decisions.add_many(before)
    stores.personal_data.withdraw([withdrawn], at=NOW)
    stores.bulk_decisions.begin(make_bulk_decision())
    ids = [alike, otherwise, withdrawn, CommentId("no"), open_one]
    new = make_decisions(ids, decided_at=LATER)

    changed = stores.decisions.add_many(new, deliveries=[make_message(one, one.id) for one in new])

    replaced = replace(before[0], undone_at=LATER, undone_by="ada")
    assert changed == [replaced, new[1], new[4]]
    assert told(stores) == [new[1].id, new[4].id]
    assert stores.cases.get(otherwise).decisions == (replaced, new[1])


def test_of_those_that_are_to_be_open_still_no_ruling_is_replaced(stores):
    approved, free = ids = keep(stores, 2)
    stores.decisions.add_many(make_decisions([approved], None, ruling=Ruling.APPROVE))
    stores.bulk_decisions.begin(make_bulk_decision(n_left_out=2))

    changed = stores.decisions.add_many(make_decisions(ids, number=2), open_only=True)

    assert [one.comment_id for one in changed] == [free]
    assert stores.cases.get(approved).decision.ruling is Ruling.APPROVE
    assert stores.bulk_decisions.get("str_1").n_left_out == 1


def test_a_bulk_decision_decides_no_comment_twice_even_if_it_was_undone_since(stores):
    ids = keep(stores, 2)
    stores.bulk_decisions.begin(make_bulk_decision(n_left_out=2))
    first = make_decisions(ids)
    stores.decisions.add_many(first)
    stores.decisions.undo(ids[0], by="grace", at=LATER)

    again = stores.decisions.add_many(make_decisions(ids, number=2))

    assert again == []
    assert stores.cases.get(ids[0]).decision is None
    assert stores.bulk_decisions.begin(make_bulk_decision(n_left_out=2)).n_decided == 2


def test_a_bulk_decision_that_was_taken_back_or_never_begun_decides_nothing(stores):
    ids = keep(stores, 1)
    stores.bulk_decisions.begin(make_bulk_decision())
    taken = stores.bulk_decisions.take_back("str_1", by="grace", at=LATER)
    again = stores.bulk_decisions.take_back("str_1", by="ada", at=LATER + timedelta(days=1))

    changed = [
        *stores.decisions.add_many(make_decisions(ids)),
        *stores.decisions.add_many(make_decisions(ids, "str_none")),
    ]

    assert changed == []
    assert taken == again == make_bulk_decision(undone_at=LATER, undone_by="grace")


def test_a_bulk_decision_is_undone_only_where_it_is_still_in_force(stores):
    ids = keep(stores, 4)
    stores.bulk_decisions.begin(make_bulk_decision())
    new = make_decisions(ids)
    stores.decisions.add_many(new)
    stores.decisions.add_many(make_decisions(ids[:1], None, ruling=Ruling.APPROVE))
    stores.decisions.undo(ids[1], by="grace", at=NOW)

    page = stores.decisions.find_of_bulk_decision("str_1", after=0, limit=1)
    rest = stores.decisions.find_of_bulk_decision("str_1", after=page.next_cursor, limit=9)
    undone = stores.decisions.undo_many(new, by="ada", at=LATER)

    assert [one.decision for one in (*page.items, *rest.items)] == new[2:]
    assert undone == [replace(one, undone_at=LATER, undone_by="ada") for one in new[2:]]
    assert stores.cases.get(ids[0]).decision.ruling is Ruling.APPROVE
    assert stores.decisions.find_of_bulk_decision("str_1", after=0, limit=9).items == ()
    assert stores.cases.count(CaseFilter(needs_review=True)) == 3


def test_decisions_that_are_no_single_act_are_refused(stores):
    first, second = make_decisions(keep(stores, 2), None)

    for odd in (
        [first, replace(second, decided_by="grace")],
        [first, replace(second, comment_id=first.comment_id)],
        [replace(first, comment_id=CommentId(f"c{n}")) for n in range(501)],
    ):
        with pytest.raises(ValueError, match="one"):
            stores.decisions.add_many(odd)


def test_of_two_who_decide_the_same_comments_at_once_each_comment_has_one_ruling_in_force(stores):
    ids = keep(stores, 30)
    stores.bulk_decisions.begin(make_bulk_decision("str_a"))
    stores.bulk_decisions.begin(make_bulk_decision("str_b", ruling=Ruling.APPROVE))
    acts = [
        make_decisions(ids, "str_a"),
        make_decisions(ids[::-1], "str_b", ruling=Ruling.APPROVE, decided_by="grace"),
    ]

    at_once(*(partial(stores.decisions.add_many, act) for act in acts))

    cases = stores.cases.find(ids)
    assert all(len([d for d in case.decisions if d.undone_at is None]) == 1 for case in cases)
    assert all(len(case.decisions) == 2 for case in cases)
    counts = [stores.bulk_decisions.get(name) for name in ("str_a", "str_b")]
    assert [one.n_decided for one in counts] == [30, 30]
    assert sum(one.n_in_force for one in counts) == 30


def test_bulk_decisions_are_listed_newest_first_page_by_page_and_only_of_ones_own_sites(stores):
    mine, theirs = keep(stores, 2), keep(stores, 2, OTHER_SITE)
    of = {"str_1": mine[:1], "str_2": theirs[:1], "str_3": [mine[1], theirs[1]]}
    for name, ids in of.items():
        stores.bulk_decisions.begin(make_bulk_decision(name))
        stores.decisions.add_many(make_decisions(ids, name))
    stores.bulk_decisions.begin(make_bulk_decision("str_empty"))

    def names(**asked) -> list[str]:
        return [
            one.id
            for one in stores.bulk_decisions.recent(**({"site_ids": None, "limit": 9} | asked))
        ]

    assert names() == ["str_empty", "str_3", "str_2", "str_1"]
    assert names(limit=2, before="str_3") == ["str_2", "str_1"]
    assert names(site_ids=(SITE,)) == ["str_1"]
    assert names(site_ids=(SITE, OTHER_SITE)) == ["str_3", "str_2", "str_1"]
    assert names(site_ids=()) == names(before="no") == []
    with pytest.raises(NotFoundError):
        stores.bulk_decisions.get("no")
    with pytest.raises(NotFoundError):
        stores.bulk_decisions.take_back("no", by="ada", at=NOW)


# What nobody has tried to send yet is taken back with its decision.


def test_a_decision_is_told_when_its_undo_time_has_passed_and_never_if_it_was_undone(stores):
    decision = tell_one(stores)
    early = try_to_send(stores, IN_TIME - timedelta(seconds=1))

    stores.decisions.undo(
        decision.comment_id, by="ada", at=NOW, deliveries=[make_undoing(decision, "m2")]
    )

    assert early == told(stores) == []
    assert try_to_send(stores, LATER) == []


@pytest.mark.parametrize("status", [204, None])
def test_after_anybody_tried_to_send_it_the_undoing_is_told_as_well(stores, status):
    decision = tell_one(stores)
    tried = try_to_send(stores, IN_TIME, status=status)

    stores.decisions.undo(
        decision.comment_id, by="ada", at=LATER, deliveries=[make_undoing(decision, "m2")]
    )

    assert tried == ["m1"]
    assert told(stores) == ["m1", "m2"]


def test_what_is_lent_now_or_was_replayed_counts_as_tried(stores):
    leased, replayed = keep(stores, 2)
    first, second = make_decisions([leased, replayed], None)
    for one, name in ((first, "m1"), (second, "m2")):
        stores.decisions.add(one, deliveries=[make_message(one, name)])
    stores.deliveries.take_due(IN_TIME, until=LATER, limit=9)
    attempt = make_attempt("m2", at=IN_TIME, status=500, problem="refused")
    stores.deliveries.record(attempt, state=DeliveryState.DEAD)
    stores.deliveries.replay(["m2"], at=LATER)

    for one in (first, second):
        undoing = make_undoing(one, f"u-{one.comment_id}")
        stores.decisions.undo(one.comment_id, by="ada", at=LATER, deliveries=[undoing])

    assert told(stores) == ["m1", "m2", f"u-{leased}", f"u-{replayed}"]


def test_a_ruling_replaced_before_it_was_told_leaves_only_the_later_one_to_tell(stores):
    kept = tell_one(stores).comment_id
    [second] = make_decisions([kept], None, ruling=Ruling.APPROVE, number=2)

    stores.decisions.add(second, deliveries=[make_message(second, "m2")])
    after_both = told(stores)
    stores.decisions.undo(kept, by="ada", at=NOW, deliveries=[make_undoing(second, "m3")])

    assert after_both == ["m2"]
    assert told(stores) == []


def test_a_site_that_was_told_of_the_ruling_before_is_told_that_none_is_in_force(stores):
    kept = tell_one(stores).comment_id
    [second] = make_decisions([kept], None, ruling=Ruling.APPROVE, number=2)
    [third] = make_decisions([kept], None, number=3)
    try_to_send(stores, IN_TIME)
    stores.decisions.add(second, deliveries=[make_message(second, "m2")])
    stores.decisions.add(third, deliveries=[make_message(third, "m3")])

    stores.decisions.undo(kept, by="ada", at=LATER, deliveries=[make_undoing(third, "m4")])

    assert told(stores) == ["m1", "m4"]
    assert try_to_send(stores, LATER) == ["m4"]


def test_what_waited_behind_a_message_that_is_withdrawn_is_next_in_line(stores):
    decision = tell_one(stores)
    behind = make_undoing(decision, "m2", event=EventKind.VERDICT)
    stores.deliveries.add([behind])
    held = try_to_send(stores, NOW)

    stores.decisions.undo(decision.comment_id, by="ada", at=NOW)

    assert (held, try_to_send(stores, NOW)) == ([], ["m2"])


def test_undoing_many_at_once_cancels_what_is_unsent_and_corrects_the_rest(stores):
    unsent, known = keep(stores, 2)
    stores.bulk_decisions.begin(make_bulk_decision())
    new = make_decisions([unsent, known])
    late = make_message(new[0], "m1", next_try_at=LATER)
    stores.decisions.add_many(new, deliveries=[late, make_message(new[1], "m2")])
    try_to_send(stores, IN_TIME)
    undoings = [make_undoing(one, f"u{number}") for number, one in enumerate(new)]

    stores.decisions.undo_many(new, by="ada", at=IN_TIME, deliveries=undoings)

    assert told(stores) == ["m2", "u1"]


def test_rulings_are_taken_over_once_logged_and_learnt_but_not_against_a_person_s(stores):
    services = make_services(stores=stores, judges=False)
    rejected, approved, ruled, withdrawn = keep(stores, 4)
    [elsewhere] = keep(stores, 1, OTHER_SITE)
    by_person = make_decision("dec_1", ruled, Ruling.APPROVE)
    stores.decisions.add(by_person)
    stores.decisions.mark_remembered([by_person])
    stores.personal_data.withdraw([withdrawn], at=NOW)
    ids = [rejected, ruled, withdrawn, elsewhere, "gone"]
    rulings = dict.fromkeys(ids, Ruling.REJECT) | {approved: Ruling.APPROVE}

    taken = [
        take_over_rulings(rulings, services, site_id=SITE, decided_by="import") for _ in range(2)
    ]

    decisions = [case.decision for case in stores.cases.find([rejected, approved, ruled])]
    log = stores.audit_log.recent()
    assert taken == [2, 0]
    assert [one.ruling for one in decisions] == [Ruling.REJECT, Ruling.APPROVE, Ruling.APPROVE]
    assert [one.decided_by for one in decisions] == ["import", "import", "ada"]
    assert {(entry.actor, entry.act, entry.subject) for entry in log} == {
        ("import", "reject", rejected),
        ("import", "approve", approved),
        ("ada", "approve", ruled),
    }
    assert stores.cases.get(elsewhere).decisions == ()
    assert stores.decisions.find_unremembered(limit=10) == []
