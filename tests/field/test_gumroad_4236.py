"""https://github.com/antiwork/gumroad/pull/4236: one mailbox, many Gmail addresses.

With the tags and dots of https://github.com/lichess-org/lila/pull/5998 and
https://github.com/mozilla/addons/issues/6770.
"""

from __future__ import annotations

import hashlib
import hmac

import pytest

from models.inputs import ModelOutput
from service.domain.comment import CommentId
from service.domain.list_entry import Effect, EntryKind
from service.domain.sender import make_sender
from service.moderation.admin.site_lists import NewEntry, add_entry
from service.moderation.privacy.erase import count_comments, erase_person, find_person
from service.reputation.names import Kind, names_of
from tests.factories import SITE

SAME = [
    "some.spammer@gmail.com",
    "somespammer@gmail.com",
    "s.o.m.e.spammer@gmail.com",
    "Some.Spammer+blog7@Gmail.com",
    "somespammer@googlemail.com",
    "some.spammer+a+b@googlemail.com",
]
OTHERS = ["somespammer@outlook.com", "some.spammers@gmail.com", "spammer@gmail.com"]


def send(api, services, email: str):
    body = {"text": "Thanks, that helped.", "author": {"name": "Mara", "email": email}}
    answer = api.post("/v1/comments?wait=5", json=body).get_json()
    return services.cases.get(CommentId(answer["id"]))


def block(services, email: str) -> None:
    entry = NewEntry(
        effect=Effect.BLOCK, kind=EntryKind.EMAIL, value=email, reason="Spams", site_id=SITE
    )
    add_entry(entry, services, by="Ola")


@pytest.mark.parametrize("blocked", SAME)
def test_a_blocked_address_covers_all_that_reach_its_mailbox(api, services, classifier, blocked):
    classifier.answer = ModelOutput(p_spam=0.01)
    block(services, blocked)

    assert {send(api, services, email).verdict.outcome for email in SAME} == {"spam"}
    assert {send(api, services, email).verdict.outcome for email in OTHERS} == {"ham"}


def test_at_other_providers_tags_are_one_mailbox_and_dots_are_not(api, services, classifier):
    classifier.answer = ModelOutput(p_spam=0.01)
    block(services, "some.spammer+shop@posteo.de")

    assert send(api, services, "some.spammer@posteo.de").verdict.outcome == "spam"
    assert send(api, services, "some.spammer+x@POSTEO.de").verdict.outcome == "spam"
    assert send(api, services, "somespammer@posteo.de").verdict.outcome == "ham"


def test_the_history_of_a_mailbox_is_one(api, services):
    kept = {
        record.name
        for email in SAME
        for record in names_of(send(api, services, email).comment).records
        if record.kind in (Kind.EMAIL, Kind.ACCOUNT)
    }

    assert len(kept) == 2


@pytest.mark.parametrize("given", SAME)
def test_erasing_a_mailbox_erases_what_came_from_its_other_addresses(api, services, given):
    for email in SAME:
        send(api, services, email)
    person = find_person(services, email=given)

    assert erase_person(person, services, by="Ola") == len(SAME)
    assert not count_comments(person, services)


@pytest.mark.parametrize("before", [None, b"the secret before, thirty-two chars"])
def test_what_was_kept_before_addresses_had_a_normal_form_is_still_found(before):
    secret = b"the present secret, thirty-two chars"
    now = make_sender(address=None, email="M.k+a@gmail.com", secret=secret, secret_before=before)

    known = {one.email_key for one in now.generations}

    assert {
        hmac.new(key, f"email:{email}".encode(), hashlib.sha256).hexdigest()[:32]
        for key in (secret, before)
        for email in ("mk@gmail.com", "m.k+a@gmail.com")
        if key
    } == known
