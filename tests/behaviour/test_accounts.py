"""What an account showed is what it is trusted with, told over SQLite."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.comment import Author, Comment, CommentId, Edit, Lane
from service.domain.decision import Ruling
from service.domain.verdict import Outcome, Verdict
from service.moderation.intake.revise import submit_version
from service.moderation.intake.senders import with_sender
from service.moderation.privacy.erase import export_person, find_person
from service.moderation.review.decide import decide_comment
from service.ports.comments import NewComment
from service.ports.services import Services
from tests.factories import NOW, make_comment
from tests.fakes import FixedClassifier, make_services, submit_to

REMARK = "The third valve was stuck on ours, too, and the pump hummed."
SOURCE = "I drew where the air goes: https://ana-karlsson.example.org/radiators"
OFFER = "Mine came from https://valve-shop.example.com, 20% off this week, order now."
MARA = "mara@example.org"


@pytest.fixture
def services():
    return make_services(classifier=FixedClassifier(p_spam=0.07))


def by_mara(text: str, services: Services, *, account_id: str | None = "u-7", **changes) -> Comment:
    author = Author(name="Mara Quill", account_id=account_id, **changes.pop("author", {}))
    comment = make_comment(text, author=author, received_at=services.common.clock(), **changes)
    return with_sender(comment, address=None, email=MARA, reputation=services.reputation)


def post(text: str, services: Services, **options) -> Verdict:
    comment = by_mara(text, services, **options)
    submit_to(services, comment, lane=Lane.INTERACTIVE)
    verdict = services.review.cases.get(comment.id).verdict
    assert verdict is not None
    return verdict


def approve(services: Services, comment_id: CommentId) -> None:
    decide_comment(comment_id, Ruling.APPROVE, services, decided_by="mod")


def post_approved(text: str, services: Services, times: int, **options) -> None:
    for number in range(times):
        approve(services, post(f"{text} ({number})", services, **options).comment_id)


def seen(verdict: Verdict) -> set[str]:
    return {one.signal.name for one in verdict.signals}


@pytest.mark.parametrize("account_id", ["u-7", None])
def test_remarks_do_not_vouch_for_the_first_offer(services, account_id):
    post_approved(REMARK, services, 12, account_id=account_id)

    offer = post(OFFER, services, account_id=account_id)

    assert "offer_after_remarks" in seen(offer)
    assert "approved_person_before" not in seen(offer)
    assert offer.outcome is Outcome.UNSURE


def test_a_regular_s_link_to_a_source_is_vouched_for_as_before(services):
    post_approved(REMARK, services, 12)

    source = post(SOURCE, services)

    assert "approved_person_before" in seen(source)
    assert "offer_after_remarks" not in seen(source)
    assert source.outcome is Outcome.HAM


def test_approved_offers_vouch_for_offers(services):
    post_approved(OFFER, services, 6)

    offer = post(OFFER, services)

    assert "approved_person_before" in seen(offer)
    assert "offer_after_remarks" not in seen(offer)


def test_another_account_s_record_vouches_for_nobody(services):
    comment = make_comment(author=Author(account_id="u-7"))
    kept = with_sender(comment, address=None, email=None, reputation=services.reputation)
    other = make_comment(author=Author(account_id="u-8"))

    assert kept.sender.account_key is not None
    other = with_sender(other, address=None, email=None, reputation=services.reputation)
    assert other.sender.account_key not in {None, kept.sender.account_key}


def edited(
    services: Services, first: str, then: str, *, approved: bool, by_staff: bool = False
) -> Edit | None:
    versions = [
        by_mara(
            text,
            services,
            site_comment_id="w-1",
            written_at=NOW + timedelta(seconds=number),
        )
        for number, text in enumerate((first, then))
    ]
    before = submit_version(NewComment(comment=versions[0], lane=Lane.BULK), services, by="test")
    assert before is not None
    if approved:
        approve(services, before)
    new = NewComment(comment=versions[1], lane=Lane.BULK)
    after = submit_version(new, services, by="test", by_staff=by_staff)
    assert after is not None
    return services.review.cases.get(after).comment.edit


@pytest.mark.parametrize(
    ("then", "edit"),
    [
        (f"{REMARK} Edit: the fourth.", Edit.APPROVED),
        (f"{REMARK} {SOURCE}", Edit.ADDED_LINK),
        (f"{REMARK} {OFFER}", Edit.ADDED_OFFER),
    ],
)
def test_an_edit_after_approval_is_told_by_what_it_adds(services, then, edit):
    assert edited(services, REMARK, then, approved=True) is edit


def test_an_edit_that_comes_before_anybody_approved_is_just_an_edit():
    unsure = make_services(classifier=FixedClassifier(p_spam=0.5))

    assert edited(unsure, REMARK, f"{REMARK} {OFFER}", approved=False) is Edit.UNAPPROVED


def test_what_the_site_s_own_people_add_is_not_the_author_s_offer(services):
    edit = edited(services, REMARK, f"{REMARK} {OFFER}", approved=True, by_staff=True)

    assert edit is Edit.BY_STAFF


def test_an_offer_that_was_there_before_is_not_added(services):
    assert edited(services, OFFER, f"{OFFER} Edit: typo.", approved=True) is Edit.APPROVED


def test_an_export_tells_what_the_person_s_account_did(services):
    post_approved(REMARK, services, 2)
    post(OFFER, services)

    told = list(export_person(find_person(services.reputation, email=MARA), services))

    [account] = [one for one in told if one["kind"] == "account"]
    assert (account["conduct"]["remarks"], account["conduct"]["offers"]) == (2, 1)
