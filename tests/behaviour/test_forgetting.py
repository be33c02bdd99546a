"""Erasing a person: what goes, what stays, and what the log says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.comment import Comment, Lane, Sender
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.domain.sender import SenderSecrets
from service.moderation.learning.rebuild import rebuild_all
from service.moderation.privacy.forget import find_sender, forget_sender
from service.moderation.review.decide import decide_comment
from tests.factories import make_comment
from tests.fakes import make_services, submit_to
from tests.in_memory import MemoryHistoryStore

MARA = "mara@example.org"


@pytest.fixture
def services():
    return make_services()


def keep(services, **known: str) -> Comment:
    sender = find_sender(services, **known)
    comment = make_comment(sender=sender)
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="mod")
    return comment


def rejected(services, comment: Comment) -> tuple[float, float]:
    """Return how many rejections are known of its address and of its e-mail."""
    (history,) = services.history.gather([comment], now=services.clock())
    return history.address.everywhere.rejected, history.email.everywhere.rejected


def test_the_log_says_that_somebody_was_forgotten_and_not_who(services):
    mara = keep(services, email=MARA)

    forget_sender(find_sender(services, email=MARA), services, by="operator")

    [entry] = services.audit_log.recent(limit=1)
    assert (entry.actor, entry.act) == ("operator", "forget sender")
    assert entry.detail == "1 comments lost the keys of their sender"
    for secret in (MARA, "mara", mara.sender.email_key):
        assert secret not in f"{entry.subject} {entry.detail}"


def test_a_rebuild_does_not_bring_a_forgotten_person_back(services):
    mara = keep(services, email=MARA)
    forget_sender(find_sender(services, email=MARA), services, by="operator")
    lost = replace(services, history=MemoryHistoryStore())

    rebuild_all(lost)

    assert rejected(lost, mara) == (0, 0)


def test_comments_from_before_the_rotation_of_the_secret_are_forgotten_too(services):
    known = {"email": MARA, "address": "192.0.2.7"}
    old = keep(services, **known)
    secrets = SenderSecrets(present=b"another secret", before=services.sender_secrets.present)
    rotated = replace(services, sender_secrets=secrets)
    new = keep(rotated, **known)

    erased = forget_sender(find_sender(rotated, **known), rotated, by="operator")

    assert erased == 2
    for comment in (old, new):
        assert services.cases.get(comment.id).comment.sender == Sender()
        assert rejected(services, comment) == (0, 0)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "--email, --name, --address"),
        ({"email": MARA, "address": "not an address"}, "--address"),
    ],
)
def test_what_names_nobody_is_refused_with_a_remedy(services, given, field):
    with pytest.raises(InvalidInputError) as caught:
        find_sender(services, **given)

    [problem] = caught.value.problems
    assert problem.field == field
    assert problem.remedy
