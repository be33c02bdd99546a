"""Erasing a person: what goes, what stays, and what the log says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.comment import Comment, CommentId, Lane, Sender
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.domain.sender import Record, SenderSecrets, make_sender
from service.moderation.decisions import decide_comment, undo_decision
from service.moderation.erasing import erase_person, find_person, forget_sender
from service.moderation.judging import judge_batch
from service.ports.services import Services
from tests.factories import make_comment
from tests.fakes import Overridden, make_services, submit_to

MARA = "mara@example.org"


@pytest.fixture
def services():
    return make_services()


def keep(services, **known: str) -> Comment:
    secrets = services.sender_secrets
    known = {"address": None, **known}
    sender = make_sender(secret=secrets.present, secret_before=secrets.before, **known)
    comment = make_comment(sender=sender)
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    return comment


def rejected(services, comment: Comment) -> tuple[float, float]:
    """Return how many rejections are known of its address and of its e-mail."""
    (history,) = services.history.gather([comment], now=services.clock())
    return history.address.everywhere.rejected, history.email.everywhere.rejected


def test_comments_from_before_the_rotation_of_the_secret_are_forgotten_too(services):
    known = {"email": MARA, "address": "192.0.2.7"}
    old = keep(services, **known)
    secrets = SenderSecrets(present=b"another secret", before=services.sender_secrets.present)
    rotated = replace(services, sender_secrets=secrets)
    new = keep(rotated, **known)

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
    sender = make_sender(secret=services.sender_secrets.present, address=None, email=MARA)
    comment = make_comment(sender=sender)
    submit_to(services, comment)
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


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "--email, --name, --address"),
        ({"email": MARA, "address": "not an address"}, "--address"),
    ],
)
def test_what_names_nobody_is_refused_with_a_remedy(services, given, field):
    with pytest.raises(InvalidInputError) as caught:
        find_person(services, **given)

    [problem] = caught.value.problems
    assert problem.field == field
    assert problem.remedy
