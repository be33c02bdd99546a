"""GitHub's comments on issues and discussions, and how deliveries are told apart."""

from __future__ import annotations

import copy
import json
from urllib.parse import urlencode

import pytest

from service.domain.errors import StoreUnavailableError
from service.domain.inbound import Platform
from service.web.app import create_app
from service.web.edge.config import WebConfig
from tests.databases import fresh_stores
from tests.fakes import make_services, make_site
from tests.functional.conftest import SECRET_KEY
from tests.functional.webhooks import recorded
from tests.functional.webhooks.conftest import add_hook, all_cases, hex_signature, only_case
from tests.functional.webhooks.recorded import GITHUB_ISSUE_COMMENT


def issue_comment(action="created", **changes):
    payload = copy.deepcopy(GITHUB_ISSUE_COMMENT) | {"action": action}
    payload["comment"].update(changes)
    return payload


def edit(text, at="2026-03-01T11:59:00Z"):
    return issue_comment("edited", body=text, updated_at=at) | {"changes": {"body": {"from": "x"}}}


def test_a_comment_on_an_issue_is_kept_with_its_post(github, services):
    answer = github(GITHUB_ISSUE_COMMENT)

    comment = only_case(services).comment
    assert answer.status_code == 202
    assert comment.text == "The drain valve was stuck here too."
    assert comment.site_comment_id == "github:IC_kwDONotReal9001"
    assert comment.post.title == "radiators/"
    assert comment.post.url == "https://github.example/ada/blog-comments/issues/7"
    assert comment.post.excerpt == "# Bleeding a radiator\n\nTurn the pump off first."
    assert (comment.author.name, comment.author.account_id) == ("mara-h", "310077")


def test_a_form_with_the_payload_is_read_as_well(send, services):
    body = urlencode({"payload": json.dumps(GITHUB_ISSUE_COMMENT)}).encode()
    headers = {
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": "guid",
        "Content-Type": "application/x-www-form-urlencoded",
    }

    answer = send(Platform.GITHUB, body, headers)

    assert answer.status_code == 202
    assert only_case(services).comment.text == "The drain valve was stuck here too."


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("ping", recorded.GITHUB_PING),
        ("push", {"ref": "refs/heads/main"}),
        ("issue_comment", issue_comment("pinned")),
        ("issue_comment", issue_comment(author_association="OWNER")),
        ("issue_comment", issue_comment(author_association="MEMBER")),
        ("issue_comment", issue_comment(author_association="COLLABORATOR")),
        ("issue_comment", issue_comment(body="  ")),
        ("issue_comment", issue_comment(updated_at="2026-02-01T00:00:00Z")),
    ],
    ids=["ping", "push", "pinned", "owner", "member", "collaborator", "no words", "long ago"],
)
def test_what_is_not_to_be_judged_is_taken_and_let_be(github, services, event, payload):
    answer = github(payload, event)

    assert (answer.status_code, answer.get_json()) == (200, {"status": "ignored"})
    assert all_cases(services) == []


def test_a_delivery_that_comes_again_changes_nothing(github, services):
    github(GITHUB_ISSUE_COMMENT, guid="g-1")
    github(edit("Edited."), guid="g-2")
    again = [
        github(GITHUB_ISSUE_COMMENT, guid="g-1"),
        github(GITHUB_ISSUE_COMMENT, guid="an invented one"),
        github(edit("Edited."), guid="g-2"),
    ]

    assert [answer.get_json() for answer in again] == [{"status": "duplicate"}] * 3
    assert [case.comment.text for case in all_cases(services)] == ["", "Edited."]


def test_a_signed_body_under_another_event_changes_nothing(github, services):
    github(issue_comment("deleted"), "push")
    github(GITHUB_ISSUE_COMMENT)

    answer = github(GITHUB_ISSUE_COMMENT, "discussion_comment", guid="invented")

    assert answer.get_json() == {"status": "duplicate"}
    assert only_case(services).withdrawn_at is None


class _AwayOnce:
    """A comment store whose database is away at the first attempt to keep something."""

    def __init__(self, inner):
        self._inner = inner
        self._away = True

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def add(self, comments):
        """See `CommentStore.add`."""
        if self._away:
            self._away = False
            raise StoreUnavailableError("the database is away")
        return self._inner.add(comments)


def test_a_delivery_that_could_not_be_carried_out_can_be_sent_again():
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, comments=_AwayOnce(stores.comments))
    client = create_app(services, WebConfig(secret_key=SECRET_KEY), {}).test_client()
    path = "/hooks/" + add_hook(services, Platform.GITHUB)
    body = json.dumps(GITHUB_ISSUE_COMMENT).encode()
    headers = {
        "X-GitHub-Event": "issue_comment",
        "X-GitHub-Delivery": "g-1",
        "X-Hub-Signature-256": hex_signature(body),
    }

    first, second, third = (client.post(path, data=body, headers=headers) for _ in range(3))

    assert [first.status_code, second.status_code] == [503, 202]
    assert third.get_json() == {"status": "duplicate"}
    assert only_case(services).verdict is not None


def test_an_edit_is_judged_again_and_the_earlier_words_forgotten(github, services, classifier):
    github(GITHUB_ISSUE_COMMENT)
    github(edit("Cheap sofas: https://sofas.example"))
    github(edit("Cheaper sofas", at="2026-03-01T11:59:30Z"))

    cases = all_cases(services)
    assert [case.comment.text for case in cases] == ["", "", "Cheaper sofas"]
    assert [case.withdrawn_at is not None for case in cases] == [True, True, False]
    assert [case.comment.site_comment_id for case in cases] == [
        "github:IC_kwDONotReal9001",
        "github:IC_kwDONotReal9001@2",
        "github:IC_kwDONotReal9001@3",
    ]
    assert sum(classifier.batches) == 3


def test_an_edit_that_leaves_the_words_changes_nothing(github, services):
    github(GITHUB_ISSUE_COMMENT)
    github(edit("The drain valve was stuck here too."))

    assert only_case(services).withdrawn_at is None


def test_an_older_version_that_comes_late_is_let_be(github, services):
    github(edit("The last word.", at="2026-03-01T11:59:30Z"))
    github(edit("Not the last word.", at="2026-03-01T11:59:00Z"))
    github(GITHUB_ISSUE_COMMENT)

    assert only_case(services).comment.text == "The last word."


def test_a_deletion_is_honoured_in_every_version(github, services):
    github(GITHUB_ISSUE_COMMENT)
    github(edit("Cheap sofas"))

    answer = github(issue_comment("deleted"))

    assert answer.status_code == 202
    assert all(case.withdrawn_at is not None for case in all_cases(services))
    assert {case.comment.text for case in all_cases(services)} == {""}


def test_a_deleted_comment_does_not_come_back_with_a_late_delivery(github, services):
    github(GITHUB_ISSUE_COMMENT)
    github(issue_comment("deleted"))

    github(edit("Cheap sofas"))

    assert only_case(services).withdrawn_at is not None


def test_what_is_too_long_beside_the_text_is_cut_or_left_out(github, services):
    payload = issue_comment(user={"login": "m" * 1_000, "id": 5}, node_id="N" * 500)
    payload["issue"].update(
        title="t" * 5_000, body="b" * 90_000, html_url="https://x.example/" + "u" * 5_000
    )

    answer = github(payload)

    comment = only_case(services).comment
    assert answer.status_code == 202
    assert (len(comment.author.name), len(comment.post.title)) == (300, 500)
    assert len(comment.post.excerpt) == 4_000
    assert comment.post.url is None
    assert len(comment.site_comment_id) < 100


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 400),
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b"{}", 422),
        (b'{"action":"created","comment":[]}', 422),
        (b'{"action":"created","comment":{"id":true,"node_id":7,"body":[]}}', 422),
    ],
)
def test_a_signed_body_that_cannot_be_read_is_refused_without_a_fault(
    github, services, body, status
):
    answer = github(body)

    assert answer.status_code == status
    assert all_cases(services) == []
