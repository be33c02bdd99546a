"""Erasing a person: what goes, what stays, and what the log says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.comment import Comment, Lane, Sender
from service.domain.decision import Ruling
from service.domain.errors import InvalidInputError
from service.domain.sender import SenderSecrets, make_sender
from service.moderation.privacy.erase import find_person, forget_sender
from service.moderation.review.decide import decide_comment
from tests.factories import make_comment
from tests.fakes import make_services, submit_to

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
