"""Owners hand out, forget and erase what is held about a person."""

from __future__ import annotations

import logging

import pytest

from service.moderation.erasing import find_person
from service.web.pages import personal_data
from tests.factories import make_comment
from tests.functional.moderators import keep, token_of

MARA = "mara@example.org"


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


@pytest.mark.parametrize("path", ["/forget", "/erase"])
def test_without_the_right_number_nothing_is_erased(services, client, path):
    mine = [sent_by(services) for _ in "ab"]

    for count in ("", "1", "3", "two", "2; DROP TABLE", "\u0662"):
        page = post(client, path, email=MARA, count=count)

        assert page.status_code == 422
        assert "Nothing was erased" in page.text
    assert [services.cases.get(one.id).comment for one in mine] == mine


def test_what_is_too_much_for_one_go_is_gone_on_with(services, client, monkeypatch):
    monkeypatch.setattr(personal_data, "ERASED_AT_ONCE", 5)
    for _ in range(5 + 3):
        sent_by(services)

    first = post(client, "/erase", email=MARA, count="8")
    second = post(client, "/erase", email=MARA, count="3")

    assert "5 comments were erased." in first.text
    assert "3 comments are held" in first.text
    assert second.status_code == 303
    assert post(client, email=MARA).text.count("0 comments are held") == 1
