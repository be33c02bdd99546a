"""https://github.com/antiwork/gumroad/pull/4236: one mailbox, many Gmail addresses.

With the tags and dots of https://github.com/lichess-org/lila/pull/5998 and
https://github.com/mozilla/addons/issues/6770.
"""

import hashlib
import hmac

import pytest

from models.inputs import ModelOutput
from service.domain.list_entry import EntryKind
from service.domain.sender import SenderSecrets, make_sender
from service.moderation.erasing import erase_person, find_person
from service.reputation.names import Kind, names_of

SAME = [
    *("some.spammer@gmail.com", "somespammer@gmail.com", "s.o.m.e.spammer@gmail.com"),
    *("Some.Spammer+blog7@Gmail.com", "somespammer@googlemail.com"),
    *("some.spammer+a+b@googlemail.com", "ｓome.\u200bspammer@ｇmail.com."),
]
OTHERS = ["somespammer@outlook.com", "some.spammers@gmail.com", "spammer@gmail.com"]


@pytest.fixture
def send_as(submit, classifier):
    """Return a function that sends a comment of this address that the classifier calls ham."""
    classifier.answer = ModelOutput(p_spam=0.01)
    return lambda email: submit(author={"name": "Mara", "email": email})


@pytest.mark.parametrize("blocked", SAME)
def test_a_blocked_address_covers_all_that_reach_its_mailbox(send_as, block, blocked):
    block(EntryKind.EMAIL, blocked)

    assert {send_as(email).verdict.outcome for email in SAME} == {"spam"}
    assert {send_as(email).verdict.outcome for email in OTHERS} == {"ham"}


def test_at_other_providers_tags_are_one_mailbox_and_dots_are_not(send_as, block):
    block(EntryKind.EMAIL, "some.spammer+shop@pösteo.de")

    for domain in ("pösteo.de", "PO\u0308STEO.de", "xn--psteo-jua.de", "pösteo。de"):
        for written in ("{0}@{1}", "{0}+x@{1}", "Mara <{0}@{1}>", "mailto:{0}@{1}"):
            assert send_as(written.format("some.spammer", domain)).verdict.outcome == "spam"
            assert send_as(written.format("somespammer", domain)).verdict.outcome == "ham"


@pytest.mark.parametrize(
    ("blocked", "same", "others"),
    [
        ("ruth@proton.me", ["r.u-t_h+a@protonmail.com", "ruth@pm.me"], ["ruth@proton.org"]),
        ("ruth@mac.com", ["ruth+a@icloud.com", "Ruth@me.com"], ["r.uth@icloud.com"]),
        ("ruth.k@yandex.com", ["ruth-k@yandex.ru", "ruth.k+a@ya.ru"], ["ruthk@yandex.ru"]),
    ],
)
def test_one_mailbox_has_several_domains(send_as, block, blocked, same, others):
    block(EntryKind.EMAIL, blocked)

    assert {send_as(email).verdict.outcome for email in (blocked, *same)} == {"spam"}
    assert {send_as(email).verdict.outcome for email in others} == {"ham"}


def test_the_history_of_a_mailbox_is_one(send_as):
    kept = {
        record.name
        for email in SAME
        for record in names_of(send_as(email).comment).records
        if record.kind in (Kind.EMAIL, Kind.ACCOUNT)
    }

    assert len(kept) == 2


@pytest.mark.parametrize("given", ["[2001:db9::7]:443", "2001:DB9:0::7%eth0"])
def test_an_address_is_blocked_and_erased_as_a_log_shows_it(submit, block, services, given):
    block(EntryKind.ADDRESS, given)

    assert submit(address="2001:db9::7").verdict.outcome == "spam"
    assert erase_person(find_person(services, address=given), services, by="Ola") == 1


@pytest.mark.parametrize("given", SAME)
def test_erasing_a_mailbox_erases_what_came_from_its_other_addresses(send_as, services, given):
    for email in SAME:
        send_as(email)
    person = find_person(services, email=given)

    assert erase_person(person, services, by="Ola") == len(SAME)
    assert not services.personal_data.count_by_site(person)


@pytest.mark.parametrize("before", [None, b"the secret before, thirty-two chars"])
def test_what_was_kept_before_addresses_had_a_normal_form_is_still_found(before):
    secret = b"the present secret, thirty-two chars"
    secrets = SenderSecrets(present=secret, before=before)
    now = make_sender(email="M.k+a@gmail.com", secrets=secrets)

    known = {one.email_key for one in now.generations}

    assert {
        hmac.new(key, f"email:{email}".encode(), hashlib.sha256).hexdigest()[:32]
        for key in (secret, before)
        for email in ("mk@gmail.com", "m.k+a@gmail.com")
        if key
    } == known
