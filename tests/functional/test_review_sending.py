"""What the review page's script asks the server: acts that may come twice, what is next."""

from __future__ import annotations

import re

import pytest

from service.domain.decision import Ruling
from service.moderation.review.decide import decide_comment
from tests.factories import make_comment
from tests.functional.moderators import keep, token_of

TOLD = {"X-Parts": "told"}


@pytest.fixture
def token(client):
    return token_of(client.get("/password"))


def _send(client, token, comment, act="decision", **form):
    url = f"/review/comments/{comment.id}/{act}"
    return client.post(url, data={"csrf_token": token, "seen": "", **form}, headers=TOLD)


def _parts(answer):
    return re.findall(r'data-part="([^"]+)"', answer.text)


def test_a_decision_is_answered_by_what_became_of_it_and_nothing_else(services, client, token):
    comment = keep(services)

    answer = _send(client, token, comment, ruling="reject", decision="dec_1")

    assert answer.status_code == 200
    assert _parts(answer) == ["tabs", "done", f"row-{comment.id}"]
    decision = services.cases.get(comment.id).decision
    assert (decision.id, decision.ruling) == ("dec_1", Ruling.REJECT)


def test_a_decision_that_is_sent_again_changes_nothing_even_after_it_was_taken_back(
    services, client, token
):
    comment = keep(services)
    _send(client, token, comment, ruling="reject", decision="dec_1")
    first = _send(client, token, comment, "undo", seen="dec_1")

    again = _send(client, token, comment, ruling="reject", decision="dec_1")

    assert (first.status_code, again.status_code) == (200, 200)
    assert "Undone by somebody else." in again.text
    assert services.cases.get(comment.id).decision is None
    acts = [entry.act for entry in services.audit_log.recent(subject=comment.id)]
    assert acts == ["undo", "reject"]


def test_a_colleagues_ruling_stands_and_is_told_with_the_way_there(services, client, token):
    comment = keep(services)
    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Mara")

    answer = _send(client, token, comment, ruling="reject", decision="dec_1")

    assert answer.status_code == 409
    assert _parts(answer) == ["tabs", "refused", f"row-{comment.id}"]
    assert "Mara approved this comment" in re.sub("<[^>]+>", "", answer.text)
    assert f'data-again="{comment.id}"' in answer.text
    assert services.cases.get(comment.id).decision.decided_by == "Mara"


def test_what_comes_next_is_handed_out_without_claiming_it(services, client):
    first, second = keep(services, make_comment("One")), keep(services, make_comment("Two"))
    client.get("/password")
    before = client.get_cookie("slopsieve").value

    answer = client.get(f"/review/ahead?id={first.id},{second.id},com_unknown")

    assert re.findall(r'data-ahead="([^"]+)"', answer.text) == [first.id, second.id]
    assert answer.text.count('class="rule"') == 2
    assert services.claims.find([first.id, second.id], now=services.clock()) == {}
    assert client.get_cookie("slopsieve").value == before


def test_the_last_decision_is_known_with_its_way_back(services, client, token):
    first, second, third = (keep(services) for _ in range(3))
    for number, comment in enumerate((first, second), 1):
        _send(client, token, comment, ruling="reject", decision=f"dec_{number}")
    decide_comment(third.id, Ruling.REJECT, services, decided_by="Mara")
    _send(client, token, second, "undo", seen="dec_2")

    answer = client.get("/review/last")

    assert f'action="/review/comments/{first.id}/undo"' in answer.text
    assert 'name="seen" value="dec_1"' in answer.text
