"""What the script of a static site's comment box asks for, and the page for who has no script."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.domain.comment import Lane, Post
from service.domain.inbound import Platform
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from service.ports.comments import NewComment
from service.web.webhooks.form_script import script_integrity
from tests.factories import SITE, make_comment, make_verdict
from tests.functional.webhooks.conftest import add_hook, all_cases, only_case

WEBHOOKS = Path(__file__).parents[3] / "service" / "web" / "webhooks"
EXAMPLES = sorted((WEBHOOKS / "examples").iterdir())
POST = "https://blog.example/radiators/"
OWN = {"Origin": "https://blog.example"}
SCRIPT = {"Accept": "application/json", **OWN}
FORM = {"text": "The drain valve was stuck here too.", "post_url": POST}


@pytest.fixture
def hook(services):
    settings = SiteSettings(blog="https://blog.example/", public_feed=True)
    services.common.sites.change_settings(SITE, lambda _: settings)
    return add_hook(services, Platform.STATIC_FORM, secret="")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda one: one.name)
def test_every_example_loads_the_script_as_it_is_now(path):
    assert script_integrity() in path.read_text("utf-8")


def test_the_script_gets_its_words_in_the_page_s_language(hook, stranger):
    path = f"/public/{hook}/words"
    english, german = (
        stranger.get(path, headers=OWN | {"Accept-Language": tag}) for tag in ("en", "de")
    )

    assert english.headers["Access-Control-Allow-Origin"] == "*"
    assert "Accept-Language" in english.headers["Vary"]
    assert english.get_json().keys() == german.get_json().keys()
    assert (german.get_json()["language"], german.get_json()["text"]) == ("de", "Kommentar")
    again = stranger.get(path, headers={"If-None-Match": english.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_the_script_shows_a_refusal_as_it_comes_in_the_visitor_s_language(hook, stranger):
    german = SCRIPT | {"Accept-Language": "de"}

    empty = stranger.post(f"/hooks/{hook}", data={"text": " "}, headers=german)
    for number in range(10):
        often = stranger.post(f"/hooks/{hook}", data={"text": f"{number}"}, headers=german)

    assert empty.get_json()["title"] == "Ihr Kommentar wurde nicht gesendet"
    assert "Kommentar: Schreiben Sie etwas" in empty.get_json()["detail"]
    assert [error["field"] for error in empty.get_json()["errors"]] == ["text"]
    assert often.status_code == 429
    assert "Warten Sie eine Minute" in often.get_json()["detail"]


@pytest.mark.parametrize(
    "sent_from",
    [{"Origin": "http://localhost"}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}],
    ids=["without TLS", "with TLS"],
)
def test_who_has_no_script_writes_on_the_service_s_own_page(hook, stranger, services, sent_from):
    page = stranger.get(f"/public/{hook}/comments.html", query_string={"post": POST})

    sent = stranger.post(f"/hooks/{hook}", data=FORM, headers=sent_from | {"Accept": "text/html"})

    assert f'action="/hooks/{hook}"' in page.text
    assert f'name="post_url" value="{POST}"' in page.text
    assert "form-action 'self'" in page.headers["Content-Security-Policy"]
    # Without it browsers would not say where the form was sent from.
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert sent.status_code == 202
    assert f'href="{POST}"' in sent.text
    assert only_case(services).comment.post.url == POST


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://localhost.evil.example"},
        {"Origin": "http://localhost:8080"},
        {"Origin": "https://["},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_no_other_page_passes_for_the_service_s_own(hook, stranger, services, headers):
    answer = stranger.post(f"/hooks/{hook}", data=FORM, headers=headers)

    assert answer.status_code == 403
    assert all_cases(services) == []


def test_an_answer_names_the_comment_that_it_answers_also_by_its_site_s_own_id(
    hook, stranger, services
):
    first = make_comment(post=Post(url=POST), site_comment_id="disqus:7")
    answers = [
        make_comment(post=Post(url=POST), reply_to="disqus:7"),
        make_comment(post=Post(url=POST), reply_to=first.id),
        make_comment(post=Post(url=POST), reply_to="disqus:8"),
    ]
    for comment in (first, *answers):
        services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        services.judging.verdicts.add([make_verdict(comment.id, Outcome.HAM)], audit=frozenset())

    shown = stranger.get(f"/public/{hook}/comments", query_string={"post": POST}).get_json()

    told = {one["id"]: one["reply_to"] for one in shown["comments"]}
    assert told == {
        first.id: None,
        answers[0].id: first.id,
        answers[1].id: first.id,
        answers[2].id: "disqus:8",
    }
