"""A static site's comment box."""

import html
import re
from pathlib import Path

import pytest

from models.inputs import ModelOutput
from service.domain.delivery import Platform
from service.domain.sender import make_sender
from service.web.webhooks.public import comment_box, script_integrity
from tests.factories import NOW
from tests.functional.moderators import set_site
from tests.functional.webhooks.conftest import add_hook, all_cases, only_case

WEBHOOKS = Path(__file__).parents[3] / "service" / "web" / "webhooks"
PAPERS = [WEBHOOKS / "PLATFORMS.md", *sorted((WEBHOOKS / "examples").iterdir())]
FORM = {
    "text": "The drain valve was stuck here too.",
    "name": "Mara",
    "email": "mara@mail.example",
    "post_url": "https://blog.example/radiators",
    "homepage": "",
}
BROWSER = {"Accept": "text/html,application/xhtml+xml", "User-Agent": "Mozilla/5.0"}
URLENCODED = "application/x-www-form-urlencoded"
OWN = {"Origin": "https://blog.example"}


@pytest.fixture
def path(services):
    return "/hooks/" + add_hook(services, Platform.STATIC_FORM, secret="")


@pytest.fixture
def own_blog(services):
    set_site(services, blog="https://www.blog.example/")


@pytest.mark.parametrize(
    "sent",
    [
        {"data": FORM},
        {"json": FORM},
        {"data": FORM, "content_type": "multipart/form-data"},
        {
            "data": {
                "fields[message]": FORM["text"],
                "fields[name]": "Mara",
                "fields[email]": FORM["email"],
                "fields[website]": "ignored",
                "options[slug]": FORM["post_url"],
                "options[parent]": "x",
            }
        },
    ],
    ids=["form", "JSON", "multipart", "Staticman's names"],
)
def test_a_comment_is_kept_however_it_is_sent(path, stranger, services, sent):
    answer = stranger.post(path, headers={"User-Agent": "Mozilla/5.0"}, **sent)

    comment = only_case(services).comment
    assert answer.status_code == 202
    assert (comment.text, comment.author.name) == (FORM["text"], "Mara")
    assert (comment.post.url, comment.user_agent) == (FORM["post_url"], "Mozilla/5.0")
    assert comment.sender == make_sender(
        address="127.0.0.1",
        email=FORM["email"],
        name="Mara",
        secrets=services.sender_secrets,
        site_id=comment.site_id,
    )


def test_the_answer_never_tells_the_verdict(path, stranger, services, classifier):
    answers = []
    for number, p_spam in enumerate((0.01, 0.5, 0.99)):
        classifier.answer = ModelOutput(p_spam=p_spam)
        answers.append(stranger.post(path, json={"text": f"Number {number}"}))

    assert len({case.verdict.outcome for case in all_cases(services)}) == 3
    ways = {(answer.status_code, answer.json["status"], *answer.json) for answer in answers}
    assert ways == {(202, "received", "statement_url", "status")}


@pytest.mark.parametrize(
    ("sent", "filled"),
    [
        ({"homepage": "https://mara.example"}, True),
        ({"fields[homepage]": "Mara"}, True),
        ({"homepage": " "}, False),
        ({}, None),
    ],
)
def test_a_filled_honeypot_is_evidence_and_the_comment_is_kept(
    path, stranger, services, sent, filled
):
    form = {name: value for name, value in FORM.items() if name != "homepage"}
    honest = stranger.post(path, data=form | {"text": "Another one."}, headers=BROWSER)

    answer = stranger.post(path, data=form | sent, headers=BROWSER)

    kept = all_cases(services)[-1]
    said = [re.sub('statements/[^"]+', "", one.text) for one in (answer, honest)]
    assert (answer.status_code, said[0]) == (honest.status_code, said[1])
    assert kept.comment.text == FORM["text"]
    assert kept.comment.form.honeypot_filled is filled


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"data": b"x" * 300_000, "content_type": URLENCODED}, 413),
        ({"data": b"", "content_type": ""}, 400),
        ({"data": b"{", "content_type": "application/json"}, 400),
        ({"data": b"[]", "content_type": "application/json"}, 422),
        ({"json": {"text": "Hi", "post_url": "&#" + "1" * 5_000}}, 422),
        ({"data": b"&" * 100 + b"a=b" + b"&a=b" * 200, "content_type": URLENCODED}, 400),
        ({"data": b"xx", "content_type": "multipart/form-data; boundary=b"}, 400),
        ({"data": {f"f{n}": "x" for n in range(80)}, "content_type": "multipart/form-data"}, 413),
    ],
)
def test_what_cannot_be_read_is_refused_without_a_fault(path, stranger, services, request_, status):
    answer = stranger.post(path, **request_)

    assert answer.status_code == status
    assert all_cases(services) == []


# The service's own page, without TLS and with it.
OF_THE_SERVICE = [
    {"Origin": "http://localhost"},
    {"Origin": "null", "Sec-Fetch-Site": "same-origin"},
]


@pytest.mark.usefixtures("own_blog")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://blog.example"}, 202),
        ({"Origin": "https://www.blog.example"}, 202),
        ({"Referer": "https://blog.example/p/1"}, 202),
        *((headers, 202) for headers in OF_THE_SERVICE),
        ({}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "https://blog.example.evil.example"}, 403),
        ({"Origin": "https://evil.example", "Referer": "https://blog.example/"}, 403),
        ({"Origin": "https://[bad"}, 403),
        ({"Referer": "https://evil.example/?https://blog.example/"}, 403),
        ({"Origin": "http://localhost:8080"}, 403),
        ({"Sec-Fetch-Site": "none"}, 403),
    ],
)
def test_the_site_s_own_pages_may_send_and_no_others(path, stranger, services, headers, status):
    answer = stranger.post(path, data=FORM, headers=headers)

    assert answer.status_code == status
    assert len(all_cases(services)) == (status == 202)
    assert status == 202 or "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize(("blog", "allowed"), [("own_blog", OWN["Origin"]), (None, "*")])
def test_a_script_may_send_json_and_read_every_answer(path, stranger, request, blog, allowed):
    if blog:
        request.getfixturevalue(blog)
    asked = stranger.options(path, headers=OWN | {"Access-Control-Request-Method": "POST"})
    sent = stranger.post(path, json=FORM, headers=OWN)
    json_type = {"content_type": "application/json"}
    refused = {
        422: stranger.post(path, json={"text": ""}, headers=OWN | {"Accept-Language": "de"}),
        400: stranger.post(path, data=b"{", headers=OWN, **json_type),
        413: stranger.post(path, data=b"x" * 300_000, headers=OWN, **json_type),
    }
    for number in range(10):
        often = stranger.post(path, json={"text": f"Number {number}"}, headers=OWN)
    foreign = stranger.options(path, headers={"Origin": "https://evil.example"})

    assert (asked.status_code, sent.status_code, often.status_code) == (204, 202, 429)
    assert asked.headers["Access-Control-Allow-Headers"] == "Content-Type"
    for answer in (asked, sent, often, *refused.values()):
        assert answer.headers["Access-Control-Allow-Origin"] == allowed
        assert allowed == "*" or answer.headers["Vary"] == "Origin"
    assert {status: answer.get_json()["status"] for status, answer in refused.items()} == {
        status: status for status in refused
    }
    # It is shown as it comes, in the visitor's language.
    assert refused[422].get_json()["title"] == "Ihr Kommentar wurde nicht gesendet"
    assert often.headers["Access-Control-Expose-Headers"] == "Retry-After"
    if blog:
        assert foreign.status_code == 403
        assert "Access-Control-Allow-Origin" not in foreign.headers


@pytest.mark.usefixtures("own_blog")
@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("https://blog.example/thanks", 303),
        ("https://evil.example/", 202),
        ("//evil.example", 202),
        ("https://blog.example@evil.example/", 202),
        ("https://evil.example\\@blog.example/", 202),
        ("https://blog.example/\r\nSet-Cookie: a=b", 202),
        ("/thanks", 202),
        ("https://[", 202),
    ],
)
def test_a_visitor_is_led_back_to_the_site_and_nowhere_else(path, stranger, target, status):
    page = FORM | {"redirect": target, "post_url": target}

    answer = stranger.post(path, data=page, headers=BROWSER | OWN)

    assert (answer.status_code, answer.location) == (status, target if status == 303 else None)
    assert f'href="{target}"' not in answer.text


@pytest.mark.parametrize("sent_from", OF_THE_SERVICE, ids=["without TLS", "with TLS"])
def test_who_has_no_script_writes_on_the_service_s_own_page(path, stranger, services, sent_from):
    set_site(services, blog="https://blog.example/", public_feed=True)
    post = FORM["post_url"]
    public = path.replace("/hooks", "/public")
    page = stranger.get(f"{public}/comments.html", query_string={"post": post})

    sent = stranger.post(path, data=FORM, headers=sent_from | {"Accept": "text/html"})

    # In a frame the answer takes the whole window.
    assert f'action="{path}" target="_top"' in page.text
    assert f'name="post_url" value="{post}"' in page.text
    assert "form-action 'self'" in page.headers["Content-Security-Policy"]
    # Without it browsers would not say where the form was sent from.
    assert page.headers["Referrer-Policy"] == "same-origin"
    assert "Accept-Language" in page.headers["Vary"]
    assert "A moderator may check it before it is shown." in sent.text
    assert f'href="{post}"' in sent.text
    assert only_case(services).comment.post.url == post


@pytest.mark.parametrize("name", ["spar%C3%A4pfel/", "a+b/", "?p=7&lang=de", "200%25/"])
def test_the_link_for_who_has_no_script_leads_to_the_same_post(path, stranger, services, name):
    set_site(services, blog="https://blog.example/", public_feed=True)
    post = f"https://blog.example/{name}"
    box = comment_box(path.removeprefix("/hooks/"), service_url="", post_url=post)

    page = stranger.get(re.search('href="([^"]+)"', box)[1])

    assert html.unescape(re.search('name="post_url" value="([^"]+)"', page.text)[1]) == post


def test_the_script_gets_its_words_in_the_page_s_language(path, stranger):
    words = path.replace("/hooks", "/public") + "/words"
    english, german = (
        stranger.get(words, headers=OWN | {"Accept-Language": tag}) for tag in ("en", "de")
    )

    assert english.headers["Access-Control-Allow-Origin"] == "*"
    assert "Accept-Language" in english.headers["Vary"]
    assert english.get_json().keys() == german.get_json().keys()
    assert (german.get_json()["language"], german.get_json()["text"]) == ("de", "Kommentar")
    again = stranger.get(words, headers={"If-None-Match": english.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


@pytest.mark.parametrize("paper", PAPERS, ids=lambda one: one.name)
def test_every_example_loads_the_script_as_it_is_now(paper):
    assert script_integrity() in paper.read_text("utf-8")


def test_many_senders_are_slowed_down_together(path, stranger):
    answers = [
        stranger.post(
            path, json={"text": f"Number {n}"}, environ_base={"REMOTE_ADDR": f"203.0.113.{n}"}
        )
        for n in range(122)
    ]

    assert [answer.status_code for answer in answers] == [202] * 120 + [429] * 2


@pytest.mark.parametrize(
    ("form", "named"),
    [
        ({"text": " "}, ["<bdi>Comment</bdi>", "Write something"]),
        ({"text": "Hi.", "post_title": "x" * 501}, ["<bdi>post.title</bdi>", "site's owner"]),
    ],
)
def test_a_visitor_without_a_script_is_told_the_field_and_the_remedy(path, stranger, form, named):
    answer = stranger.post(path, data=form, headers=BROWSER)

    assert answer.status_code == 422
    assert answer.content_type == "text/html; charset=utf-8"
    assert [one for one in [*named, "Go back"] if one not in answer.text] == []
    assert "/review" not in answer.text
    assert "our side" not in answer.text


@pytest.mark.parametrize(("method", "revoked"), [("GET", 405), ("POST", 410)])
def test_a_revoked_form_is_gone_and_leads_nobody_to_the_moderators_pages(
    stranger, path, method, revoked, services
):
    services.inbound.revoke("hook_static-form", at=NOW)

    for where, statuses in ((path, {revoked}), ("/hooks/no-such-hook", {401, 405})):
        answer = stranger.open(where, method=method, data=FORM, headers=BROWSER)

        assert answer.status_code in statuses
        assert answer.content_type == "text/html; charset=utf-8"
        assert "/review" not in answer.text
