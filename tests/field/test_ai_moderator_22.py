"""https://github.com/github/ai-moderator/issues/22: issues and pull requests are not handled.

With the replies by mail of https://github.com/github/CopilotForXcode/issues/475, and the edits by
others of https://github.com/discourse/discourse/pull/39842.
"""

import copy
import tomllib
from pathlib import Path

import pytest

from service.domain.comment import Edit
from service.domain.decision import Ruling
from service.moderation.decisions import decide_comment
from service.reputation.names import names_of
from service.signals.judged_text import end_of_own_words, judged_text
from tests.factories import make_comment
from tests.functional.webhooks.conftest import all_cases, only_case
from tests.functional.webhooks.recorded import DISCOURSE_POST, GITHUB_ISSUE_COMMENT

USER = GITHUB_ISSUE_COMMENT["comment"]["user"]
REPOSITORY = GITHUB_ISSUE_COMMENT["repository"] | {"description": "Notes on heating"}
WRITTEN = {
    "node_id": "X_kwDO1",
    "html_url": "https://github.example/ada/blog/7",
    "user": USER,
    "author_association": "NONE",
    "created_at": "2026-03-01T11:58:00Z",
    "updated_at": "2026-03-01T11:58:00Z",
    "body": "The valve is stuck.",
}
THREAD = WRITTEN | {"title": "Radiator stays cold"}


def payload(member: str, written: dict, action: str, **more):
    return {"action": action, member: written, "repository": REPOSITORY, "sender": USER} | more


@pytest.mark.parametrize(
    ("event", "sent", "kept"),
    [
        ("issues", payload("issue", THREAD, "opened"), "github-thread:X_kwDO1"),
        ("discussion", payload("discussion", THREAD, "created"), "github-thread:X_kwDO1"),
        ("pull_request", payload("pull_request", THREAD, "opened"), "github-thread:X_kwDO1"),
        (
            "pull_request_review_comment",
            payload("comment", WRITTEN, "created", pull_request=THREAD),
            "github:X_kwDO1",
        ),
        (
            "pull_request_review",
            payload("review", WRITTEN, "submitted", pull_request=THREAD),
            "github:X_kwDO1",
        ),
        ("commit_comment", payload("comment", WRITTEN, "created"), "github:X_kwDO1"),
    ],
)
def test_what_a_hook_is_subscribed_to_is_judged(github, services, event, sent, kept):
    assert github(sent, event).status_code == 202

    case = only_case(services)
    assert case.verdict is not None
    assert case.comment.site_comment_id == kept
    is_thread = kept.startswith("github-thread")
    assert case.comment.text == ("Radiator stays cold\n\n" if is_thread else "") + WRITTEN["body"]
    assert case.comment.author.name == "mara-h"


@pytest.mark.parametrize("login", ["giscus[bot]", "utterances-bot"])
def test_the_thread_that_a_widget_opens_is_nobodys_words(github, services, login):
    thread = THREAD | {"user": USER | {"login": login}}

    answer = github(payload("discussion", thread, "created"), "discussion")

    assert answer.get_json() == {"status": "ignored"}
    assert all_cases(services) == []


def test_a_deleted_thread_is_withdrawn(github, services):
    github(payload("issue", THREAD, "opened"), "issues")
    github(payload("issue", THREAD, "deleted"), "issues")

    assert only_case(services).withdrawn_at is not None


@pytest.mark.parametrize(
    ("sender", "edit"), [(USER, Edit.ADDED_OFFER), (USER | {"id": 99}, Edit.BY_STAFF)]
)
def test_a_maintainers_edit_is_not_the_authors(github, services, sender, edit):
    github(GITHUB_ISSUE_COMMENT)
    decide_comment(only_case(services).comment.id, Ruling.APPROVE, services, decided_by="ada")
    edited = copy.deepcopy(GITHUB_ISSUE_COMMENT) | {"action": "edited", "sender": sender}
    edited["comment"] |= {
        "body": "The drain valve was stuck. Moved from #12, cheap valves at https://valve-shop.com"
        f" &#{'1' * 5_000}",
        "updated_at": "2026-03-01T11:59:00Z",
    }
    assert github(edited).status_code == 202

    case = all_cases(services)[-1]
    names = {weighed.signal.name for weighed in case.verdict.signals}
    assert case.comment.edit is edit
    assert ("added_by_edit" in names) == (sender is USER)
    own = f"account:{case.comment.sender.account_key}"
    counted = {name for _, name in names_of(case.comment).written()}
    assert (own in counted) == (sender is USER)


@pytest.mark.parametrize(
    ("changes", "edit"),
    [
        ({"last_editor_id": 1}, Edit.BY_STAFF),
        ({"locked": True}, Edit.BY_STAFF),
        ({"locked": True, "wiki": True}, Edit.BY_STAFF),
        ({"edit_reason": "typo", "locked": False}, Edit.UNAPPROVED),
        ({"last_editor_id": 1, "wiki": True}, Edit.UNAPPROVED),
        ({}, Edit.UNAPPROVED),
    ],
)
def test_a_moderators_edit_at_discourse_is_told_where_it_shows(discourse, services, changes, edit):
    discourse(DISCOURSE_POST)
    edited = copy.deepcopy(DISCOURSE_POST)
    edited["post"] |= {"raw": "Tidied up.", "updated_at": "2026-03-01T11:59:00.000Z"} | changes
    discourse(edited, "post_edited")

    assert all_cases(services)[-1].comment.edit is edit


@pytest.mark.parametrize("event", ["post_edited", "post_recovered"])
@pytest.mark.parametrize("editor", [77, 501, None])
def test_a_wikis_edit_is_judged_as_its_editors(discourse, services, editor, event):
    discourse(DISCOURSE_POST)
    author = only_case(services).comment.sender.account_key
    decide_comment(only_case(services).comment.id, Ruling.APPROVE, services, decided_by="ada")
    post = DISCOURSE_POST["post"] | {"wiki": True, "raw": "Cheap valves: https://valve-shop.com"}
    discourse({"post": post | ({"last_editor_id": editor} if editor else {})}, event)

    case = all_cases(services)[-1]
    assert (case.comment.sender.account_key == author) == (editor == 77)
    assert (case.comment.sender.account_key is None) == (editor is None)
    assert (case.comment.edit, case.decision) == (Edit.ADDED_OFFER, None)


def test_a_members_edit_of_a_moderators_wiki_is_judged(discourse, services):
    wiki = DISCOURSE_POST["post"] | {"wiki": True, "staff": True, "raw": "Cheap valves."}

    discourse({"post": wiki | {"last_editor_id": 77}}, "post_edited")
    assert all_cases(services) == []
    discourse({"post": wiki | {"last_editor_id": 501}}, "post_edited")
    assert only_case(services).comment.text == "Cheap valves."


LINK = "https://on.soundcloud.com/Yi22313j3dsoXHODcg"
MAILS = tomllib.loads(Path(__file__).with_name("mails.toml").read_text("utf-8"))


@pytest.mark.parametrize("footer", MAILS["footers"])
def test_a_mails_footer_is_kept_and_not_judged(footer):
    text = f"{LINK}\n\n{footer}"
    end = end_of_own_words(text, platform_host="forum.example")

    assert text[:end] == LINK


@pytest.mark.parametrize("text", MAILS["own_words"])
def test_what_a_writer_put_there_is_judged(text):
    assert end_of_own_words(text) == len(text)


@pytest.mark.parametrize(
    ("site_comment_id", "judged"),
    [("github:IC_1", LINK), ("discourse:7@2", LINK), ("wp-7", None), (None, None)],
)
def test_only_comments_by_mail_have_footers(site_comment_id, judged):
    comment = make_comment(
        f"{LINK}\n\n> Message ID: ***@***.***>\n", site_comment_id=site_comment_id
    )

    assert judged_text(comment).text == (judged or comment.text)


def test_a_reply_by_mail_is_shown_whole_and_judged_by_its_words(github, services):
    sent = copy.deepcopy(GITHUB_ISSUE_COMMENT)
    quoted = f'"{"What a useful article about radiators. " * 2}"'
    sent["comment"]["body"] = f"{quoted}\n\n> Message ID: ***@***.***>\n>\n"
    github(sent)

    case = only_case(services)
    assert case.comment.text.endswith("> Message ID: ***@***.***>\n>\n")
    assert "stray_quotation_mark" in {weighed.signal.name for weighed in case.verdict.signals}
