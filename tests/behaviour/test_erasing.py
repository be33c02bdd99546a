"""What is kept for how long, how a person is erased, and what stays."""

from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Author, Comment, CommentId, Lane, Sender
from service.domain.decision import Ruling
from service.domain.sender import Record, SenderSecrets, make_sender
from service.domain.verdict import Outcome
from service.moderation import erasing
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.erasing import (
    erase_person,
    export_person,
    find_person,
    forget_sender,
    prune_comments,
)
from service.moderation.judging import judge_batch
from service.ports.services import Services
from tests.factories import NOW, make_comment
from tests.fakes import Overridden, make_services, submit_one
from tests.functional.moderators import keep

MARA = "mara@example.org"


def keep_rejected(services, **known: str) -> Comment:
    sender = make_sender(secrets=services.sender_secrets, **({"address": None} | known))
    comment = submit_one(services, lane=Lane.INTERACTIVE, sender=sender)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    return comment


def rejected(services, comment: Comment) -> tuple[float, float]:
    """Return the number of known rejections of its address and of its e-mail."""
    (history,) = services.history.gather([comment], now=services.clock())
    return history.address.everywhere.rejected, history.email.everywhere.rejected


def test_comments_from_before_the_rotation_of_the_secret_are_forgotten_too(services):
    known = {"email": MARA, "address": "192.0.2.7"}
    old = keep_rejected(services, **known)
    secrets = SenderSecrets(present=b"another secret", before=services.sender_secrets.present)
    rotated = replace(services, sender_secrets=secrets)
    new = keep_rejected(rotated, **known)

    erased = forget_sender(find_person(rotated, **known).sender, rotated, by="operator")

    assert erased == 2
    for comment in (old, new):
        assert services.cases.get(comment.id).comment.sender == Sender()
        assert rejected(services, comment) == (0, 0)


def erase(services: Services) -> None:
    erase_person(find_person(services, email=MARA), services, by="operator")


def forget(services: Services) -> None:
    forget_sender(find_person(services, email=MARA).sender, services, by="operator")


@pytest.mark.parametrize("what", [erase, forget])
@pytest.mark.parametrize("act", ["judge", "learn", "unlearn"])
def test_nothing_that_was_under_way_brings_back_what_was_forgotten(services, what, act):
    services.queue.judges = act != "judge"
    sender = make_sender(secrets=services.sender_secrets, address=None, email=MARA)
    comment = submit_one(services, sender=sender)
    if act == "unlearn":
        decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")

    call = "gather" if act == "judge" else act

    def tell(*given, **named):
        what(services)
        return getattr(services.history, call)(*given, **named)

    told = {call: tell}
    slow = replace(services, history=Overridden(services.history, **told))
    if act == "judge":
        judge_batch([comment.id], slow)
    elif act == "learn":
        decide_comment(comment.id, Ruling.REJECT, slow, decided_by="mod")
    else:
        undo_decision(comment.id, slow, undone_by="mod")

    assert services.history.conducts(sender, now=services.clock()) == {}
    later = replace(comment, id=CommentId("later"), text="What size is the valve?")
    [history] = services.history.gather([later], now=services.clock())
    assert history.email.everywhere == Record()


MONTH, YEAR = timedelta(days=30), timedelta(days=365)
FOR_EVER = {"keep": None, "keep_spam": None, "keep_held_spam": None}


@pytest.fixture
def unjudged():
    return make_services(judges=False)


@pytest.fixture(autouse=True)
def small_portions(monkeypatch):
    """Let a portion hold four comments."""
    monkeypatch.setattr(erasing, "_PORTION", 4)
    monkeypatch.setattr(erasing, "_MOST_COMMENTS_AT_ONCE", 4)


def aged(unjudged, days: int, outcome: Outcome | None, **options) -> CommentId:
    comment = make_comment(received_at=NOW - timedelta(days=days), author=Author(name="Mara"))
    return keep(unjudged, comment, outcome, **options).id


def withdrawn(unjudged, *ids: CommentId) -> list[bool]:
    return [unjudged.cases.get(one).withdrawn_at is not None for one in ids]


def test_each_age_takes_what_it_is_for(unjudged):
    ruled, ruled_lately, held, young = (
        aged(unjudged, days, Outcome.SPAM) for days in (31, 8, 8, 6)
    )
    ham, ancient = (aged(unjudged, days, Outcome.HAM) for days in (31, 366))
    for one in (ruled, ruled_lately):
        decide_comment(one, Ruling.REJECT, unjudged, decided_by="mod")

    assert prune_comments(unjudged, **FOR_EVER) == 0
    ages = {"keep": YEAR, "keep_spam": MONTH, "keep_held_spam": timedelta(days=7)}
    pruned = prune_comments(unjudged, **ages)

    assert pruned == 3
    assert withdrawn(unjudged, ruled, held, ancient) == [True] * 3
    assert withdrawn(unjudged, ruled_lately, ham, young) == [False] * 3


def of_mara(unjudged, count: int) -> list[CommentId]:
    sender = find_person(unjudged, email=MARA).sender
    return [keep(unjudged, make_comment(sender=sender)).id for _ in range(count)]


def test_an_export_holds_every_comment_once_across_portions(unjudged):
    ids = of_mara(unjudged, 9)

    records = list(export_person(find_person(unjudged, email=MARA), unjudged))

    assert [record["comment"]["id"] for record in records[:-1]] == sorted(ids)
    assert records[-1] == {"kind": "end", "comments": 9, "cut": False}
