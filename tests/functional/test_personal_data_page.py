"""Owners hand out, forget and erase what is held about a person."""

from __future__ import annotations

import json
import logging

import pytest

from service.domain.comment import Author
from service.moderation.privacy.erase import find_person
from service.web.pages.accounts import personal_data_page
from tests.factories import make_comment
from tests.functional.moderators import keep, rule, scripts_of, token_of

MARA = "mara@example.org"
HOSTILE = '\u202e"><script>alert(1)</script>{{7*7}}'


def sent_by(services, *, email=MARA, **changes):
    sender = find_person(services, email=email).sender
    return keep(services, make_comment(sender=sender, **changes))


def post(client, path="", **form):
    token = token_of(client.get("/personal-data"))
    return client.post(f"/personal-data{path}", data={"csrf_token": token, **form})


def test_who_it_is_stands_in_no_address_cookie_or_log(services, client, caplog):
    caplog.set_level(logging.DEBUG)
    comment = sent_by(services)

    answers = [
        post(client, email=MARA),
        post(client, "/export", email=MARA),
        post(client, "/erase", email=MARA, count="1"),
    ]

    assert [answer.status_code for answer in answers] == [200, 200, 303]
    assert MARA not in caplog.text
    assert all(MARA not in str(answer.headers) for answer in answers)
    assert not any(MARA in str(entry) for entry in services.audit_log.recent())
    assert services.cases.get(comment.id).comment.text == ""


def test_everything_held_is_handed_out_a_line_a_comment(services, client):
    comment = sent_by(services, author=Author(name=HOSTILE), text="=1+1\ud800 \u202e")
    rule(client, comment, "reject")

    answer = post(client, "/export", email=MARA)

    [line, end] = [json.loads(one) for one in answer.text.splitlines()]
    assert "attachment" in answer.headers["Content-Disposition"]
    assert line["comment"]["text"] == comment.text
    assert line["comment"]["author"]["name"] == HOSTILE
    assert line["comment"]["sender"]["email_key"] == comment.sender.email_key
    assert line["comment"]["received_at"] == "2026-03-01T12:00:00Z"
    assert line["verdict"]["outcome"] == "unsure"
    assert line["decisions"][0]["decided_by"] == "Ola"
    assert end == {"kind": "end", "comments": 1, "cut": False}


def test_erasing_takes_words_names_and_links_of_theirs_alone(services, client):
    mine = [sent_by(services, author=Author(name="Mara", url="https://m.example/")) for _ in "ab"]
    other = sent_by(services, email="jo@example.org")

    told = client.get(post(client, "/erase", email=MARA, count="2").location)

    assert "2 comments were erased." in told.text
    for one in mine:
        erased = services.cases.get(one.id)
        assert (erased.comment.text, erased.comment.author) == ("", Author())
        assert erased.verdict is not None
    assert services.cases.get(other.id).comment == other
    [entry] = services.audit_log.recent(limit=1)
    assert (entry.actor, entry.act, entry.subject) == ("Ola", "erase person", "person")


@pytest.mark.parametrize("path", ["/forget", "/erase"])
def test_without_the_right_number_nothing_is_erased(services, client, path):
    mine = [sent_by(services) for _ in "ab"]

    for count in ("", "1", "3", "two", "2; DROP TABLE", "\u0662"):
        page = post(client, path, email=MARA, count=count)

        assert page.status_code == 422
        assert "Nothing was erased" in page.text
    assert [services.cases.get(one.id).comment for one in mine] == mine


def test_what_is_too_much_for_one_go_is_gone_on_with(services, client):
    more = 3
    for _ in range(personal_data_page.ERASED_AT_ONCE + more):
        sent_by(services)

    first = post(client, "/erase", email=MARA, count=str(personal_data_page.ERASED_AT_ONCE + more))
    second = post(client, "/erase", email=MARA, count=str(more))

    assert "1000 comments were erased." in first.text
    assert "3 comments are held" in first.text
    assert second.status_code == 303
    assert post(client, email=MARA).text.count("0 comments are held") == 1


@pytest.mark.parametrize("path", ["", "/export", "/forget", "/erase"])
def test_nobody_in_particular_is_refused(services, client, path):
    comment = sent_by(services)

    for form in ({}, {"email": "   "}, {"address": "not an address"}, {"address": HOSTILE}):
        page = post(client, path, **form)

        assert page.status_code == 422
        assert "Give at least one of the three" in page.text
        assert scripts_of(page.text) == []
    assert services.cases.get(comment.id).comment == comment
