"""Holds every decision store to its word: what histories do not know yet, what is in force."""

from __future__ import annotations

from datetime import timedelta

from service.domain.decided_comment import DecidedComment
from service.domain.decision import Ruling
from tests.contract.test_decision_store import keep, make_decision
from tests.factories import NOW


def unremembered(stores) -> list[str]:
    return [one.decision.id for one in stores.decisions.find_unremembered(limit=100)]


def in_force(stores, *, limit: int) -> list[list[str]]:
    """Return the ids of all pages."""
    pages, after = [], 0
    while after is not None:
        page = stores.decisions.find_in_force(after=after, limit=limit)
        pages.append([one.decision.id for one in page.decided_comments])
        after = page.next_after
    return pages


def test_a_new_decision_waits_to_be_remembered_together_with_its_comment(stores):
    kept = keep(stores)
    decision = make_decision(kept)

    stores.decisions.add(decision)

    waiting = stores.decisions.find_unremembered(limit=100)
    assert waiting == [DecidedComment(decision=decision, comment=stores.cases.get(kept).comment)]


def test_what_is_remembered_waits_no_more(stores):
    first, second = make_decision(keep(stores)), make_decision(keep(stores))
    for decision in (first, second):
        stores.decisions.add(decision)

    stores.decisions.mark_remembered([first])
    stores.decisions.mark_remembered([first])
    stores.decisions.mark_remembered([])

    assert unremembered(stores) == [second.id]


def test_an_undoing_waits_to_be_remembered_too(stores):
    kept = keep(stores)
    decision = make_decision(kept)
    stores.decisions.add(decision)
    stores.decisions.mark_remembered([decision])

    undone = stores.decisions.undo(kept, by="ada", at=NOW)

    [waiting] = stores.decisions.find_unremembered(limit=100)
    assert waiting.decision == undone


def test_a_ruling_that_replaces_another_leaves_both_waiting(stores):
    kept = keep(stores)
    first, second = make_decision(kept), make_decision(kept, ruling=Ruling.APPROVE)
    stores.decisions.add(first)
    stores.decisions.mark_remembered([first])

    stores.decisions.add(second)

    assert unremembered(stores) == [first.id, second.id]


def test_whoever_learnt_of_the_making_too_late_does_not_hide_the_undoing(stores):
    kept = keep(stores)
    decision = make_decision(kept)
    stores.decisions.add(decision)
    undone = stores.decisions.undo(kept, by="ada", at=NOW)

    stores.decisions.mark_remembered([decision])
    before = unremembered(stores)
    stores.decisions.mark_remembered([undone])

    assert before == [decision.id]
    assert unremembered(stores) == []


def test_what_waits_longest_comes_first_and_no_more_than_asked_for(stores):
    first, second, third = (
        make_decision(keep(stores), decided_at=NOW + timedelta(minutes=minutes))
        for minutes in (2, 1, 3)
    )
    for decision in (first, second, third):
        stores.decisions.add(decision)

    found = stores.decisions.find_unremembered(limit=2)

    assert [one.decision.id for one in found] == [second.id, first.id]


def test_of_the_decisions_in_force_every_page_brings_the_next_ones(stores):
    kept = [keep(stores) for _ in range(5)]
    made = [make_decision(comment_id) for comment_id in kept]
    for decision in made:
        stores.decisions.add(decision)
    stores.decisions.undo(kept[1], by="ada", at=NOW)

    pages = in_force(stores, limit=2)

    assert pages == [[made[0].id, made[2].id], [made[3].id, made[4].id], []]


def test_a_decided_comment_of_a_withdrawn_comment_holds_nothing_of_its_sender(stores):
    kept = keep(stores)
    stores.decisions.add(make_decision(kept))

    stores.comments.withdraw(kept, at=NOW)

    [decided_comment] = stores.decisions.find_in_force(after=0, limit=9).decided_comments
    assert decided_comment.comment.text == ""
