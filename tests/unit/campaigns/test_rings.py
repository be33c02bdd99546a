"""Rings are groups beyond chance that sell; crowds bind nobody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from service.campaigns.acts import Act, Tie, act_of, kind_of, shape_of
from service.campaigns.rings import MOST_OF_A_RING, RingGraph
from service.domain.comment import Author, CommentId, Sender
from tests.factories import NOW, make_comment

TARGET, COPY, BORN = "target:site:valve-shop.example", "copy:17", "born:s:2026-01-01"
BLOCK = "block:n1:5"


def act(who: str, *ties: str, sells: bool = True, at: datetime = NOW) -> Act:
    return Act(comment_id=CommentId(f"c-{who}"), who=who, at=at, ties=ties, sells=sells)


def graph_of(*acts: Act, **options) -> RingGraph:
    graph = RingGraph(**({"max_remembered": 1_000} | options))
    for one in acts:
        graph.see(one)
    return graph


def rings(*acts: Act) -> list[Sequence[str]]:
    return [sorted(ring.who) for ring in graph_of(*acts).rings()]


def members(count: int, *ties: str, sells: bool = True) -> list[Act]:
    return [act(f"m{number:02}", *ties, sells=sells) for number in range(count)]


def test_senders_who_share_what_they_sell_and_when_they_came_are_a_ring():
    assert rings(*members(4, TARGET, COPY, BORN)) == [["m00", "m01", "m02", "m03"]]


def test_one_thing_in_common_binds_nobody():
    assert rings(*members(4, TARGET)) == []
    assert rings(*members(4, BLOCK, BORN)) == []


def test_a_group_that_sells_nothing_is_no_ring():
    assert rings(*members(4, TARGET, COPY, BORN, sells=False)) == []


def test_what_more_than_a_dozen_share_says_nothing():
    assert rings(*members(MOST_OF_A_RING + 1, TARGET, COPY, BORN)) == []


def test_a_class_in_one_lesson_is_bound_by_what_it_sells_alone():
    lesson = members(40, BLOCK)
    answering = [act(f"m{n:02}", "answer:s:1", "shape:Aa", BORN, sells=True) for n in range(3)]

    assert rings(*lesson, *answering) == []


def test_who_answers_within_minutes_shares_an_answer_and_who_comes_later_does_not():
    asked = act("a", "answer:s:1", BORN, BLOCK)
    soon = act("b", "answer:s:1", BORN, BLOCK, at=NOW + timedelta(minutes=5))
    late = act("b", "answer:s:1", BORN, BLOCK, at=NOW + timedelta(hours=5))

    found = [[sorted(ring.who) for ring in graph_of(asked, b).rings()] for b in (soon, late)]

    assert found == [[["a", "b"]], []]


def test_what_is_forgotten_binds_nobody():
    graph = graph_of(*members(4, TARGET, COPY, BORN), max_remembered=4)
    for number in range(4):
        graph.see(act(f"stranger{number}"))

    assert graph.rings() == []
    assert graph.senders == 4


def test_an_act_names_what_a_comment_has():
    comment = make_comment(
        "Mine came from https://valve-shop.example/a",
        author=Author(name="Ann17", account_age_days=3),
        sender=Sender(account_key="k1", network_key="n1", email_domain="mail.example"),
        site_comment_id="w-1",
        reply_to="w-0",
    )

    found = act_of(comment, p_spam=0.6)

    assert found is not None
    assert (found.who, found.sells) == ("k1", True)
    assert {kind_of(tie) for tie in found.ties} == set(Tie) - {Tie.COPY}
    assert "valve-shop" not in str(found.ties)


def test_who_is_known_by_an_address_alone_has_no_act():
    shared = make_comment(
        "Mine came from https://valve-shop.example", sender=Sender(address_key="a1")
    )

    assert act_of(shared, p_spam=0.6) is None
    assert act_of(make_comment(), p_spam=0.6) is None


def test_a_shape_keeps_digits_and_forgets_letters():
    assert shape_of("Anna17") == shape_of("Bob42") == "Aa99"
    assert shape_of("Anna 7") != shape_of("Anna17")
