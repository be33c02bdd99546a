"""How long words are kept, and how a person is erased, told over SQLite."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.comment import Author, CommentId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation import erasing
from service.moderation.decisions import decide_comment
from service.moderation.erasing import erase_person, export_person, find_person, prune_comments
from tests.factories import NOW, make_comment
from tests.fakes import make_services
from tests.functional.moderators import keep

MARA = "mara@example.org"
MONTH, YEAR = timedelta(days=30), timedelta(days=365)
FOR_EVER = {"keep": None, "keep_spam": None, "keep_held_spam": None}


@pytest.fixture
def services():
    return make_services(judges=False)


@pytest.fixture(autouse=True)
def small_portions(monkeypatch):
    """Let a portion hold four comments."""
    monkeypatch.setattr(erasing, "_PORTION", 4)
    monkeypatch.setattr(erasing, "_MOST_COMMENTS_AT_ONCE", 4)


def aged(services, days: int, outcome: Outcome | None, **options) -> CommentId:
    comment = make_comment(received_at=NOW - timedelta(days=days), author=Author(name="Mara"))
    return keep(services, comment, outcome, **options).id


def withdrawn(services, *ids: CommentId) -> list[bool]:
    return [services.cases.get(one).withdrawn_at is not None for one in ids]


def test_without_a_limit_everything_is_kept_for_ever(services):
    old = aged(services, 10_000, Outcome.SPAM)

    pruned = prune_comments(services, **FOR_EVER)

    assert pruned == 0
    assert withdrawn(services, old) == [False]


def test_each_age_takes_what_it_is_for(services):
    ruled, ruled_lately, held, ham, young = (
        aged(services, days, outcome)
        for days, outcome in (
            (31, Outcome.SPAM),
            (8, Outcome.SPAM),
            (8, Outcome.SPAM),
            (31, Outcome.HAM),
            (6, Outcome.SPAM),
        )
    )
    ancient = aged(services, 366, Outcome.HAM)
    for one in (ruled, ruled_lately):
        decide_comment(one, Ruling.REJECT, services, decided_by="mod")

    ages = {"keep": YEAR, "keep_spam": MONTH, "keep_held_spam": timedelta(days=7)}
    pruned = prune_comments(services, **ages)

    assert pruned == 3
    assert withdrawn(services, ruled, held, ancient) == [True] * 3
    assert withdrawn(services, ruled_lately, ham, young) == [False] * 3


def test_portions_go_on_for_as_long_as_there_is_time(services):
    ids = [aged(services, 31, Outcome.SPAM) for _ in range(9)]
    time_left = iter([True, False])

    first = prune_comments(
        services, **FOR_EVER | {"keep_spam": MONTH}, goes_on=lambda: next(time_left)
    )
    rest = prune_comments(services, **FOR_EVER | {"keep_spam": MONTH}, goes_on=lambda: True)

    assert (first, rest) == (8, 1)
    assert all(withdrawn(services, *ids))


def of_mara(services, count: int) -> list[CommentId]:
    sender = find_person(services, email=MARA).sender
    return [keep(services, make_comment(sender=sender)).id for _ in range(count)]


def test_an_export_holds_every_comment_once_across_portions(services):
    ids = of_mara(services, 9)

    records = list(export_person(find_person(services, email=MARA), services))

    assert [record["comment"]["id"] for record in records[:-1]] == sorted(ids)
    assert records[-1] == {"kind": "end", "comments": 9, "cut": False}


def test_an_erased_person_is_unknown_to_histories(services):
    [comment_id] = of_mara(services, 1)
    comment = services.cases.get(comment_id).comment
    decide_comment(comment_id, Ruling.REJECT, services, decided_by="mod")

    erase_person(find_person(services, email=MARA), services, by="operator")

    (history,) = services.history.gather([comment], now=services.clock())
    assert history.email.everywhere.rejected == 0
