"""https://github.com/github/ai-moderator/issues/22: issues and pull requests are not handled.

With the replies by mail of https://github.com/github/CopilotForXcode/issues/475, and the edits by
others of https://github.com/discourse/discourse/pull/39842.
"""

from __future__ import annotations

import copy

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
        "body": "The drain valve was stuck. Moved from #12, cheap valves at https://valve-shop.com",
        "updated_at": "2026-03-01T11:59:00Z",
    }
    github(edited)

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
        ({}, Edit.UNAPPROVED),
    ],
)
def test_a_moderators_edit_at_discourse_is_told_where_it_shows(discourse, services, changes, edit):
    discourse(DISCOURSE_POST)
    edited = copy.deepcopy(DISCOURSE_POST)
    edited["post"] |= {"raw": "Tidied up.", "updated_at": "2026-03-01T11:59:00.000Z"} | changes
    discourse(edited, "post_edited")

    assert all_cases(services)[-1].comment.edit is edit


LINK = "https://on.soundcloud.com/Yi22313j3dsoXHODcg"
ISSUE = "https://github.com/ada/b/issues/7#issuecomment-1"
OF_GITHUB = (
    "> —\n> Reply to this email directly, view it on GitHub\n"
    "> <https://github.com/ada/b/issues/7#issuecomment-1>, or unsubscribe\n"
    "> <https://github.com/notifications/unsubscribe-auth/AAA>\n> .\n"
    "> You are receiving this because you were mentioned.Message ID:\n> ***@***.***>\n>\n"
)


@pytest.mark.parametrize(
    "footer",
    [
        "> Message ID: ***@***.***>\n>\n",
        f"On Thu, 27 Nov 2026 at 10:00, Ada ***@***.***>\nwrote:\n\n> You said so\n{OF_GITHUB}",
        "Triage notifications on the go with GitHub Mobile for iOS <https://apps.apple.com/x>.",
        "Le jeu. 27 nov. 2026 à 10:00, Ada <ada@blog.example> a écrit :\n> Bonjour\n",
        "2026年11月27日 10:00 Ada <ada@blog.example> 写道：\n> 你好",
        "Von meinem iPhone gesendet\n\nAm 27.11.2026 um 10:00 schrieb Ada:\n> Hallo",
        "-- \nMara Holm\nHeating at large",
        "Visit Topic <https://forum.example/t/x/1> or reply to this email to respond.",
        (
            f"--\nReply to this email directly or view it on GitHub:\n{ISSUE}\nMessage ID:\n"
            "<ada/b/issues/7/1@github.com>"
        ),
        f'—<br />Reply to this email directly, <a href="{ISSUE}">view it on GitHub</a>.',
        (
            "---\n[Thema ansehen](https://forum.example/t/x/1/2) oder antworte auf diese Mail.\n\n"
            "Um dich abzumelden, klicke [hier](https://forum.example/email/unsubscribe/1)."
        ),
        "---\n## Previous Replies\n> You said so, the store has no stock",
        "Sent with [Proton Mail](https://proton.me/) secure email.",
        "iPhoneから送信",
        "发自我的华为手机",
        "मेरे iPhone से भेजा गया",
        "--\nОтправлено из Mail.ru для Android",
        "Sent from Yahoo Mail for iPhone<https://overview.mail.yahoo.com/?.src=iOS>",
        "--\nSent with Tutanota, enjoy secure & ad-free emails:\nhttps://tutanota.com",
        "Sent from Canary (https://canarymail.io)",
        "Sent from HEY",
        "Get BlueMail for Android",
        "This email has been checked for viruses by Avast antivirus software.\nwww.avast.com",
        "Ce message et ses pièces jointes sont confidentiels.",
        "Ada <a@blog.example> writes:\n\n> Hi",
        "On Friday, November 27, 2026 at 10:00:00 AM, Ada <a@blog.example> wrote:  \n \n Hi there",
        '---Original---\nFrom: "Ada"<a@b.example>\nDate: Fri, Nov 27\nSubject: Re: x\n\nHi',
        "---- Původní e-mail ----\nOd: Ada\nKomu: ada/b\nPředmět: Re: x\n\nAhoj",
        "Gesendet: 27. November 2026 um 10:00\nVon: Ada <a@b.example>\nAn: ada/b\n\nHallo",
        "From: Ada <a@b.example>\nCc:\nSent: 2026-11-27 10:00\nSubject: Re: x\n\n안녕",
        "-- \nDiese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.",
        "czw., 27 lis 2026 o 10:00 Ada <a@blog.example> napisał(a):\n\n> Cześć",
        "בתאריך יום ה׳, 27 בנוב׳ 2026 ב-10:00 מאת Ada <\u202aa@b.example\u202c\u200f>:\u202c\n> א",
        "Ada <a@blog.example> ezt írta (időpont: 2026. nov. 27., P, 10:00):\n> Szia",
        "2026年11月27日(金) 10:00 Ada <a@blog.example>:\n> こんにちは",
        (
            f"{'_' * 32}\nFrom: Ada <a@blog.example>\nSent: Thursday, November 27, 2026 10:00 AM\n"
            f"To: ada/b <b@noreply.github.com>\nSubject: Re: Valve\n\n{'You said so. ' * 9}\nMara"
        ),
        "De : Ada <a@blog.example>\nEnvoyé : jeudi 27 novembre 2026 10:00\nÀ : ada/b\n\nBonjour",
    ],
)
def test_a_mails_footer_is_kept_and_not_judged(footer):
    text = f"{LINK}\n\n{footer}"
    end = end_of_own_words(text, platform_host="forum.example")

    assert text[:end] == LINK


@pytest.mark.parametrize(
    "text",
    [
        "Works.\n-- \nMara\nhttps://cheap-loans.shop",
        "Nice.\n\nOn Mon, 1 Jan 2026 at 10, X <x@y.example> wrote:\n> See https://loans.shop now",
        "Nice.\n\nYou are receiving this because you won. WhatsApp +234 803 555 0199",
        "I agree with this:\n> a quote",
        "> a quote\n\nMy answer",
        "Message ID: ***@***.***",
        "Here is what I wrote:\nuse two valves",
        "Thanks.\n\nIn 2026 the pump failed and my wife wrote:\n> never again",
        "Nice.\n-- \nCheapest loans in Lagos, search rita loans",
        "Hi\n\nSent from my iPhone: cheapest loans in Lagos",
        "Hi\n\nOn 27/11/2026 10:00, Ada wrote:\n> Cheapest valves, ask for Rita",
        "Hi\n\nFrom: A <a@b.example>\nSent: 27.11.2026 10:00\nSubject: x\n\nSee loans-lagos.shop",
        "Hi\n\nTo unsubscribe write to rita@loans.example",
        "Nice.\n-- \nhire me: mara at posteo dot de",
        "On Friday, 27 November 2026, 10:00, Ada <a@b.example> wrote:\n> Hi\n\nMy answer",
        "I fixed it.\n\nSent from Spark to Kafka, 3 GB",
    ],
)
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
