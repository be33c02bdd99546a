"""What is known of a sender, and what an account showed is what it is trusted with."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from service.domain.comment import Author, Comment, CommentId, Edit, Lane
from service.domain.decision import Ruling
from service.domain.sender import SenderSecrets
from service.domain.verdict import Outcome, Verdict
from service.moderation.decisions import decide_comment
from service.moderation.intake import with_sender
from service.moderation.revise import submit_version
from service.ports.comments import NewComment
from service.ports.services import Services
from tests.factories import NOW, make_comment
from tests.fakes import FixedClassifier, make_services, submit_to


def test_the_authors_own_link_is_looked_up_too():
    asked = {}
    lists = SimpleNamespace(has=lambda _: True, find=lambda **given: asked.update(given) or ())
    comment = make_comment("Nice", author=Author(name="Mara", url="http://loans.com/"))

    with_sender(comment, make_services(reputation_lists=lists), address=None, email=None)

    assert list(asked["domains"]) == ["loans.com"]


def test_the_system_that_announces_the_address_is_kept_as_a_number():
    services = make_services(find_system={"192.0.2.7": 64_500}.get)

    sent = with_sender(make_comment(), services, address="192.0.2.7", email=None)

    assert sent.sender.system == 64_500


def test_while_the_secret_rotates_the_keys_under_the_older_one_are_kept_too():
    services = make_services()
    before = with_sender(make_comment(), services, address="192.0.2.7", email="a@b.example")
    present = services.sender_secrets.present
    rotated = replace(services, sender_secrets=SenderSecrets(present=b"new", before=present))

    after = with_sender(make_comment(), rotated, address="192.0.2.7", email="a@b.example")

    assert after.sender.address_key != before.sender.address_key
    assert after.sender.before_rotation is not None
    assert after.sender.before_rotation.address_key == before.sender.address_key
    assert after.sender.before_rotation.name_key == before.sender.name_key
    assert after.fingerprint() == before.fingerprint()


REMARK = "The third valve was stuck on ours, too, and the pump hummed."
OFFER = "Mine came from https://valve-shop.example.com, 20% off this week, order now."


@pytest.fixture
def services():
    return make_services(classifier=FixedClassifier(p_spam=0.07))


def by_mara(text: str, services: Services, *, account_id: str | None = "u-7", **changes) -> Comment:
    author = Author(name="Mara Quill", account_id=account_id, **changes.pop("author", {}))
    comment = make_comment(text, author=author, received_at=services.clock(), **changes)
    return with_sender(comment, services, address=None, email="mara@example.org")


def post(text: str, services: Services, **options) -> Verdict:
    comment = by_mara(text, services, **options)
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    verdict = services.cases.get(comment.id).verdict
    assert verdict is not None
    return verdict


def approve(services: Services, comment_id: CommentId) -> None:
    decide_comment(comment_id, Ruling.APPROVE, services, decided_by="mod")


def seen(verdict: Verdict) -> set[str]:
    return {one.signal.name for one in verdict.signals}


@pytest.mark.parametrize("account_id", ["u-7", None])
def test_remarks_do_not_vouch_for_the_first_offer(services, account_id):
    for number in range(12):
        remark = post(f"{REMARK} ({number})", services, account_id=account_id)
        approve(services, remark.comment_id)

    offer = post(OFFER, services, account_id=account_id)

    assert "offer_after_remarks" in seen(offer)
    assert "approved_person_before" not in seen(offer)
    assert offer.outcome is Outcome.UNSURE


@pytest.mark.parametrize(
    ("first", "added", "edit"),
    [
        (REMARK, "Edit: the fourth.", Edit.APPROVED),
        (REMARK, "Drawn at https://ana-karlsson.example.org/radiators", Edit.ADDED_LINK),
        (REMARK, OFFER, Edit.ADDED_OFFER),
        (OFFER, "Edit: typo.", Edit.APPROVED),
    ],
)
def test_an_edit_is_told_by_what_it_adds_to_what_was_approved(services, first, added, edit):
    for number, text in enumerate((first, f"{first} {added}")):
        written_at = NOW + timedelta(seconds=number)
        comment = by_mara(text, services, site_comment_id="w-1", written_at=written_at)
        new = NewComment(comment=comment, lane=Lane.BULK)
        kept = CommentId(submit_version(new, services, by="test"))
        if text == first:
            approve(services, kept)

    assert services.cases.get(kept).comment.edit is edit
