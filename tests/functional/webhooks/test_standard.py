"""Standard Webhooks, for whoever has no adapter."""

from __future__ import annotations

import pytest

from service.domain.inbound import Platform
from tests.functional.webhooks.conftest import all_cases, only_case
from tests.functional.webhooks.recorded import STANDARD


@pytest.fixture
def standard(send):
    count = iter(range(1, 1_000))

    def deliver(payload, *, message_id=None):
        return send(Platform.STANDARD, payload, message_id=message_id or f"msg_{next(count)}")

    return deliver


def message(kind="comment.created", *, at="2026-03-01T11:58:00Z", **changes):
    return STANDARD | {"type": kind, "timestamp": at, "data": STANDARD["data"] | changes}


def test_a_comment_is_kept_as_the_api_would(standard, services):
    answer = standard(STANDARD)

    comment = only_case(services).comment
    assert (answer.status_code, answer.get_json()) == (202, {"status": "accepted"})
    assert comment.site_comment_id == "c-1001"
    assert comment.author.name == "Mara"
    assert comment.sender.address_key is not None
    assert comment.sender.email_domain == "mail.example"
    assert comment.written_at.isoformat() == "2026-03-01T11:58:00+00:00"


def test_edits_and_deletions_are_followed(standard, services):
    standard(STANDARD)
    standard(message("comment.updated", at="2026-03-01T11:59:00Z", text="Cheap sofas"))
    edited = [case.comment.text for case in all_cases(services)]
    standard({"type": "comment.deleted", "data": {"site_comment_id": "c-1001"}})

    assert edited == ["", "Cheap sofas"]
    assert all(case.withdrawn_at is not None for case in all_cases(services))


def test_of_two_edits_the_later_one_stays_though_both_tell_when_it_was_first_written(
    standard, services
):
    written = "2026-03-01T09:00:00Z"
    standard(message("comment.updated", at="2026-03-01T11:59:30Z", text="Last", written_at=written))
    standard(
        message("comment.updated", at="2026-03-01T11:59:00Z", text="First", written_at=written)
    )

    assert only_case(services).comment.text == "Last"


def test_a_message_that_comes_again_changes_nothing(standard, services):
    standard(STANDARD, message_id="msg_1")

    again = standard(STANDARD, message_id="msg_1")

    assert again.get_json() == {"status": "duplicate"}
    assert only_case(services).withdrawn_at is None


def test_everything_wrong_with_a_comment_is_named_at_once(standard):
    answer = standard({"type": "comment.created", "data": {"txt": "x", "address": "here"}})

    fields = {error["field"] for error in answer.get_json()["errors"]}
    assert answer.status_code == 422
    assert fields == {"text", "site_comment_id", "txt", "address"}


def test_an_id_that_reads_like_a_later_version_is_refused(standard):
    answer = standard(message(site_comment_id="c-1001@2"))

    assert answer.status_code == 422
    assert [error["field"] for error in answer.get_json()["errors"]] == ["site_comment_id"]


@pytest.mark.parametrize("data", [None, [], "c-1", {}, {"site_comment_id": ""}])
def test_a_deletion_without_an_id_is_refused(standard, data):
    assert standard({"type": "comment.deleted", "data": data}).status_code == 422
