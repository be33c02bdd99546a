"""A static site's comment box."""

from __future__ import annotations

import re

import pytest

from models.inputs import ModelOutput
from service.domain.inbound import Platform
from service.domain.sender import make_sender
from service.domain.site import SiteSettings
from tests.factories import NOW, SITE
from tests.functional.webhooks.conftest import add_hook, all_cases, only_case

FORM = {
    "text": "The drain valve was stuck here too.",
    "name": "Mara",
    "email": "mara@mail.example",
    "post_url": "https://blog.example/radiators",
    "homepage": "",
}
BROWSER = {"Accept": "text/html,application/xhtml+xml", "User-Agent": "Mozilla/5.0"}
OWN = {"Origin": "https://blog.example"}


@pytest.fixture
def path(services):
    return "/hooks/" + add_hook(services, Platform.STATIC_FORM, secret="")


@pytest.fixture
def own_blog(services):
    services.common.sites.change_settings(
        SITE, lambda _: SiteSettings(blog="https://www.blog.example/")
    )


def test_a_form_is_kept_and_thanked_for(path, stranger, services):
    answer = stranger.post(path, data=FORM, headers=BROWSER)

    comment = only_case(services).comment
    assert answer.status_code == 202
    assert "Thank you" in answer.text
    assert comment.text == FORM["text"]
    assert comment.author.name == "Mara"
    assert comment.post.url == FORM["post_url"]
    assert comment.user_agent == "Mozilla/5.0"
    assert comment.sender == make_sender(
        address="127.0.0.1",
        email=FORM["email"],
        name="Mara",
        secret=services.reputation.sender_secrets.present,
        site_id=comment.site_id,
    )


@pytest.mark.parametrize(
    "request_",
    [
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
    ids=["JSON", "multipart", "Staticman's names"],
)
def test_all_ways_to_send_it_say_the_same(path, stranger, services, request_):
    answer = stranger.post(path, **request_)

    comment = only_case(services).comment
    assert answer.status_code == 202
    assert (comment.text, comment.author.name, comment.post.url) == (
        FORM["text"],
        "Mara",
        FORM["post_url"],
    )


def test_the_answer_never_tells_the_verdict(path, stranger, services, classifier):
    answers = []
    for number, p_spam in enumerate((0.01, 0.5, 0.99)):
        classifier.answer = ModelOutput(p_spam=p_spam)
        answers.append(stranger.post(path, json={"text": f"Number {number}"}))

    assert len({case.verdict.outcome for case in all_cases(services)}) == 3
    ways = {(answer.status_code, answer.json["status"], *answer.json) for answer in answers}
    assert ways == {(202, "received", "status", "statement_url")}


@pytest.mark.parametrize(
    ("sent", "filled"),
    [
        ({"homepage": "https://mara.example"}, True),
        ({"fields[homepage]": "Mara"}, True),
        ({"homepage": " "}, False),
        ({"homepage": ""}, False),
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


def test_everything_wrong_is_named_at_once(path, stranger):
    answer = stranger.post(path, json={"text": "Hi.", "name": "m" * 301, "url": 7})

    fields = {error["field"] for error in answer.get_json()["errors"]}
    assert answer.status_code == 422
    assert fields == {"author.name", "author.url"}


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"data": b"x" * 300_000, "content_type": "application/x-www-form-urlencoded"}, 413),
        ({"data": b"<a/>", "content_type": "text/xml"}, 400),
        ({"data": b"", "content_type": ""}, 400),
        ({"data": b"{", "content_type": "application/json"}, 400),
        ({"data": b"[]", "content_type": "application/json"}, 422),
        (
            {
                "data": b"&" * 100 + b"a=b" + b"&a=b" * 200,
                "content_type": "application/x-www-form-urlencoded",
            },
            400,
        ),
        ({"data": b"xx", "content_type": "multipart/form-data; boundary=b"}, 400),
        ({"data": b"xx", "content_type": "multipart/form-data"}, 400),
        ({"data": {f"f{n}": "x" for n in range(80)}, "content_type": "multipart/form-data"}, 413),
    ],
    ids=[
        "too large",
        "XML",
        "no type",
        "broken JSON",
        "a list",
        "many fields",
        "broken multipart",
        "no boundary",
        "many parts",
    ],
)
def test_what_cannot_be_read_is_refused_without_a_fault(path, stranger, services, request_, status):
    answer = stranger.post(path, **request_)

    assert answer.status_code == status
    assert all_cases(services) == []


@pytest.mark.usefixtures("own_blog")
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://blog.example"},
        {"Origin": "https://www.blog.example"},
        {"Referer": "https://blog.example/p/1"},
    ],
)
def test_the_site_s_own_pages_may_send(path, stranger, headers):
    assert stranger.post(path, data=FORM, headers=headers).status_code == 202


@pytest.mark.usefixtures("own_blog")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "https://evil.example"},
        {"Origin": "https://blog.example.evil.example"},
        {"Origin": "https://evil.example", "Referer": "https://blog.example/"},
        {"Origin": "https://[bad"},
        {"Referer": "https://evil.example/?https://blog.example/"},
    ],
)
def test_other_pages_may_not(path, stranger, services, headers):
    answer = stranger.post(path, data=FORM, headers=headers)

    assert answer.status_code == 403
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert all_cases(services) == []


@pytest.mark.usefixtures("own_blog")
def test_a_script_of_the_site_may_send_json_and_read_the_answer(path, stranger):
    asked = stranger.options(path, headers=OWN | {"Access-Control-Request-Method": "POST"})
    sent = stranger.post(path, json=FORM, headers=OWN)

    assert asked.status_code == 204
    assert asked.headers["Access-Control-Allow-Headers"] == "Content-Type"
    for answer in (asked, sent):
        assert answer.headers["Access-Control-Allow-Origin"] == "https://blog.example"
        assert answer.headers["Vary"] == "Origin"


def test_before_the_blog_is_named_a_script_of_any_page_may_send_as_a_form_may(path, stranger):
    asked = stranger.options(path, headers=OWN | {"Access-Control-Request-Method": "POST"})
    sent = stranger.post(path, json=FORM, headers=OWN)

    assert (asked.status_code, sent.status_code) == (204, 202)
    for answer in (asked, sent):
        assert answer.headers["Access-Control-Allow-Origin"] == "*"


@pytest.mark.usefixtures("own_blog")
@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"json": {"text": ""}}, 422),
        ({"data": b"{", "content_type": "application/json"}, 400),
        ({"data": b"x" * 300_000, "content_type": "application/json"}, 413),
    ],
)
def test_a_script_of_the_site_may_read_why_a_comment_is_refused(path, stranger, request_, status):
    answer = stranger.post(path, headers=OWN, **request_)

    assert answer.status_code == status
    assert answer.headers["Access-Control-Allow-Origin"] == OWN["Origin"]
    assert answer.get_json()["status"] == status


@pytest.mark.usefixtures("own_blog")
def test_a_script_of_the_site_may_read_when_it_may_try_again(path, stranger):
    answers = [stranger.post(path, json={"text": f"Number {n}"}, headers=OWN) for n in range(11)]

    last = answers[-1]
    assert last.status_code == 429
    assert last.headers["Access-Control-Allow-Origin"] == OWN["Origin"]
    assert last.headers["Access-Control-Expose-Headers"] == "Retry-After"


@pytest.mark.usefixtures("own_blog")
def test_a_script_of_another_site_may_not(path, stranger):
    answer = stranger.options(path, headers={"Origin": "https://evil.example"})

    assert answer.status_code == 403
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.usefixtures("own_blog")
def test_a_visitor_is_led_back_to_the_site(path, stranger):
    answer = stranger.post(
        path, data=FORM | {"redirect": "https://blog.example/thanks"}, headers=BROWSER | OWN
    )

    assert (answer.status_code, answer.location) == (303, "https://blog.example/thanks")


@pytest.mark.usefixtures("own_blog")
@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example",
        "javascript:alert(1)",
        "https://blog.example@evil.example/",
        "https://evil.example\\@blog.example/",
        "https://blog.example/\r\nSet-Cookie: a=b",
        "/thanks",
        "https://[",
    ],
)
def test_nobody_is_led_elsewhere(path, stranger, target):
    answer = stranger.post(path, data=FORM | {"redirect": target}, headers=BROWSER | OWN)

    assert answer.status_code == 202
    assert "Location" not in answer.headers


def test_one_sender_is_slowed_down(path, stranger, services):
    answers = [stranger.post(path, json={"text": f"Number {n}"}) for n in range(12)]

    assert [answer.status_code for answer in answers] == [202] * 10 + [429] * 2
    assert int(answers[-1].headers["Retry-After"]) > 0


def test_many_senders_are_slowed_down_together(path, stranger):
    answers = [
        stranger.post(
            path, json={"text": f"Number {n}"}, environ_base={"REMOTE_ADDR": f"203.0.113.{n}"}
        )
        for n in range(122)
    ]

    assert [answer.status_code for answer in answers] == [202] * 120 + [429] * 2


def test_a_revoked_form_is_gone(path, stranger, services):
    services.telling.inbound.revoke("hook_static-form", at=NOW)

    assert stranger.post(path, data=FORM).status_code == 410


@pytest.mark.parametrize(
    ("form", "named"),
    [
        ({"text": " "}, ["<bdi>Comment</bdi>", "Write something"]),
        ({"text": "Hi.", "name": "m" * 301}, ["<bdi>Name</bdi>", "300 characters"]),
        ({"text": "Hi.", "url": "x" * 3_000}, ["<bdi>Website</bdi>", "2048 characters"]),
        ({"text": "Hi.", "post_title": "x" * 501}, ["<bdi>post.title</bdi>", "site&#39;s owner"]),
    ],
)
def test_a_visitor_without_a_script_is_told_the_field_and_the_remedy(path, stranger, form, named):
    answer = stranger.post(path, data=form, headers=BROWSER)

    assert answer.status_code == 422
    assert answer.content_type == "text/html; charset=utf-8"
    assert [one for one in [*named, "Go back"] if one not in answer.text] == []
    assert "/review" not in answer.text
    assert "our side" not in answer.text


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_visitor_is_never_led_to_the_moderators_pages(stranger, path, method, services):
    services.telling.inbound.revoke("hook_static-form", at=NOW)

    for where in (path, "/hooks/no-such-hook"):
        answer = stranger.open(where, method=method, data=FORM, headers=BROWSER)

        assert answer.status_code in {401, 405, 410}
        assert answer.content_type == "text/html; charset=utf-8"
        assert "/review" not in answer.text


@pytest.mark.usefixtures("own_blog")
@pytest.mark.parametrize(
    ("page", "is_linked"), [(FORM["post_url"], True), ("https://evil.example/", False)]
)
def test_a_thank_you_page_leads_back_to_the_site_s_own_page(path, stranger, page, is_linked):
    answer = stranger.post(path, data=FORM | {"post_url": page}, headers=BROWSER | OWN)

    assert (f'href="{page}"' in answer.text) is is_linked
