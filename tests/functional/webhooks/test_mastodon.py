"""Mastodon's posts and reports."""

from __future__ import annotations

import copy

import pytest

from service.domain.applying import REPORT_COMMENT
from service.domain.inbound import Platform
from service.domain.report import Label
from service.domain.sender import make_sender
from tests.functional.webhooks import recorded
from tests.functional.webhooks.conftest import all_cases, only_case


@pytest.fixture
def mastodon(send):
    return lambda payload: send(Platform.MASTODON, payload)


def changed(payload, **changes):
    copied = copy.deepcopy(payload)
    copied["object"].update(changes)
    return copied


def test_a_post_is_kept_as_it_reads(mastodon, services):
    answer = mastodon(recorded.MASTODON_CREATED)

    comment = only_case(services).comment
    assert answer.status_code == 202
    assert comment.text == (
        "@ada The drain valve, see https://valves.example/drain/how-to-open-one\n\n#heating"
    )
    assert comment.site_comment_id == "mastodon:116001000000000001"
    assert comment.reply_to == "mastodon:116000990000000007"
    assert (comment.author.name, comment.author.account_id) == ("Mara :wrench:", "109310001")
    assert comment.author.account_age_days == 28
    assert comment.language == "en"
    assert comment.written_at.isoformat() == "2026-03-01T11:58:00+00:00"
    assert only_case(services).verdict is not None


def test_a_warning_a_poll_and_descriptions_are_read_too(mastodon, services):
    payload = changed(
        recorded.MASTODON_CREATED,
        spoiler_text="Sofas",
        content="",
        poll={"options": [{"title": "Buy at sofas.example"}, {"title": "No"}]},
        media_attachments=[{"type": "image", "description": "A sofa, half price"}],
    )

    mastodon(payload)

    text = only_case(services).comment.text
    assert text == "Sofas\n\nBuy at sofas.example\n\nNo\n\nA sofa, half price"


@pytest.mark.parametrize(
    "changes",
    [
        {"visibility": "private"},
        {"visibility": "direct"},
        {"reblog": recorded.MASTODON_STATUS},
        {"content": "", "media_attachments": []},
    ],
    ids=["for followers", "for one person", "a boost", "no words"],
)
def test_what_is_not_anybody_s_public_words_is_let_be(mastodon, services, changes):
    answer = mastodon(changed(recorded.MASTODON_CREATED, **changes))

    assert (answer.status_code, answer.get_json()) == (200, {"status": "ignored"})
    assert all_cases(services) == []


def test_an_edit_is_judged_again_and_the_earlier_words_forgotten(mastodon, services):
    mastodon(recorded.MASTODON_CREATED)
    mastodon(recorded.MASTODON_UPDATED)

    first, second = all_cases(services)
    assert first.withdrawn_at is not None
    assert first.comment.text == ""
    assert second.comment.text == "Cheap sofas: https://sofas.example"
    assert second.comment.site_comment_id == "mastodon:116001000000000001@2"
    assert second.verdict is not None


def test_a_reported_post_is_judged_and_reported(mastodon, services):
    answer = mastodon(recorded.MASTODON_REPORT)

    case = only_case(services)
    assert answer.status_code == 202
    assert case.comment.text == "Cheap sofas at https://sofas.example"
    assert [report.label for report in case.reports] == [Label.SPAM]
    assert case.reports[0].reported_by == "mastodon:109310002"


def test_of_a_reported_account_address_and_email_are_kept_as_hashes_only(mastodon, services):
    mastodon(recorded.MASTODON_REPORT)

    comment = only_case(services).comment
    assert comment.sender == make_sender(
        address="203.0.113.77",
        email="sofas4you@mail.example",
        name=comment.author.name,
        secret=services.reputation.sender_secrets.present,
        site_id=comment.site_id,
        account_id=comment.author.account_id,
    )
    assert "203.0.113.77" not in repr(comment)
    assert "sofas4you@" not in repr(comment)


def test_a_report_of_a_post_that_is_known_finds_it(mastodon, services):
    mastodon(recorded.MASTODON_CREATED)
    payload = changed(recorded.MASTODON_REPORT, statuses=[recorded.MASTODON_STATUS])

    mastodon(payload)

    assert [report.label for report in only_case(services).reports] == [Label.SPAM]


def test_a_report_for_another_reason_says_nothing_about_spam(mastodon, services):
    mastodon(changed(recorded.MASTODON_REPORT, category="violation"))

    assert only_case(services).reports == ()


def test_a_report_that_tells_of_a_rejection_here_is_nobody_s_word(mastodon, services):
    mastodon(recorded.MASTODON_CREATED)
    reported = {"statuses": [recorded.MASTODON_STATUS], "comment": REPORT_COMMENT}

    answer = mastodon(changed(recorded.MASTODON_REPORT, **reported))

    assert answer.get_json() == {"status": "ignored"}
    assert only_case(services).reports == ()


@pytest.mark.parametrize("event", ["account.created", "report.updated", "", None, 7])
def test_other_events_are_taken_and_let_be(mastodon, services, event):
    answer = mastodon({"event": event, "object": {"id": "1"}})

    assert (answer.status_code, answer.get_json()) == (200, {"status": "ignored"})
    assert all_cases(services) == []


def test_a_payload_of_another_shape_is_named(mastodon):
    answer = mastodon({"event": "status.created", "object": {"visibility": "public"}})

    assert answer.status_code == 422
    assert [error["field"] for error in answer.get_json()["errors"]] == ["object.id"]


def test_what_happened_too_long_ago_is_let_be(mastodon, services):
    payload = recorded.MASTODON_CREATED | {"created_at": "2026-02-20T11:58:00.000Z"}

    answer = mastodon(payload)

    assert answer.get_json() == {"status": "ignored"}
    assert all_cases(services) == []
