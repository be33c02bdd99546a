"""What the review page's script asks, and how two moderators share one queue."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from service.domain.case import Claim
from service.domain.decision import Ruling
from service.domain.user import Role
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment, undo_decision
from tests.factories import NOW, make_comment
from tests.fakes import Overridden, away, make_services
from tests.functional.moderators import (
    hidden_fields,
    keep,
    make_app,
    restrict,
    rule,
    signed_in,
    token_of,
)

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


# Small counts while nothing changes, rows once it does.
def claim(services, comment, user="ada") -> None:
    services.claims.take(
        Claim(
            comment_id=comment.id,
            user_id=user,
            user_name="Ada",
            since=services.clock(),
            until=services.clock() + timedelta(seconds=90),
        )
    )


def _counts(client, *comments, known="", **query):
    values = {"id": ",".join(c.id for c in comments), "since": NOW.isoformat()} | query
    return client.get(f"/review/counts?{urlencode(values)}", headers={"If-None-Match": known})


def test_a_page_hears_that_nothing_changed_until_something_does(services, client):
    first, second = keep(services), keep(services)
    tags = []

    def ask() -> bool:
        """Return True if the page would draw its rows again."""
        answer = _counts(client, first, second, known=tags[-1] if tags else "")
        assert answer.status_code == (200 if answer.data else 304)
        tags.append(answer.headers["ETag"])
        return answer.status_code == 200

    heard = [ask(), ask()]
    claim(services, second)
    heard += [ask(), ask()]
    decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara")
    heard += [ask(), ask()]
    undo_decision(first.id, services, undone_by="Mara")
    heard += [ask(), ask()]
    keep(services, judged_at=NOW + timedelta(seconds=1))
    heard += [ask(), ask()]

    assert heard == [True, False] * 5


def test_counts_tell_how_much_each_list_holds_what_is_new_and_who_looks(services, client):
    comment, own = keep(services), keep(services)
    claim(services, comment)
    claim(services, own, user=services.users.find("Ola").id)
    new = keep(services, judged_at=NOW + timedelta(seconds=1))
    keep(services, outcome=Outcome.HAM)

    answer = _counts(client, comment, own)

    assert answer.json["counts"] | {"needs-review": 3, "ham": 1, "spam": 0} == answer.json["counts"]
    assert answer.json["new"] == [new.id]
    assert answer.json["looked_at"] == {comment.id: "Ada"}
    assert "Set-Cookie" not in answer.headers


def _rows(client, *comments, **query):
    values = {"id": ",".join(c.id for c in comments), "since": NOW.isoformat()} | query
    return client.get(f"/review/rows?{urlencode(values)}")


def test_rows_are_drawn_as_they_stand_with_tabs_and_news(services, client):
    decided, claimed, untouched = keep(services), keep(services), keep(services)
    decide_comment(decided.id, Ruling.REJECT, services, decided_by="Mara")
    claim(services, claimed)
    new = [keep(services, judged_at=NOW + timedelta(seconds=n)) for n in (1, 2)]
    keep(services, outcome=Outcome.HAM, judged_at=NOW + timedelta(seconds=3))

    answer = _rows(client, decided, claimed, untouched)

    assert re.findall(r'data-part="row-([^"]+)"', answer.text) == [
        decided.id, claimed.id, untouched.id,
    ]  # fmt: skip
    assert ">Rejected</span>" in answer.text
    assert "Ada is looking at it" in answer.text
    assert 'data-waiting="4"' in answer.text
    assert f'data-ids="{",".join(sorted(c.id for c in new))}"' in answer.text
    assert ">2 new comments, show them</a>" in answer.text
    assert services.claims.find([untouched.id], now=NOW) == {}


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def ola(services, app):
    return signed_in(services, "Ola", app)


@pytest.fixture
def mara(services, app):
    return signed_in(services, "Mara", app)


@pytest.fixture
def queue(services):
    """Three unsure comments, oldest first."""
    return [
        keep(services, make_comment(f"Number {n}", received_at=NOW - timedelta(hours=9 - n)))
        for n in range(3)
    ]


def _opened(page):
    return re.search(r'data-opened="([^"]+)"', page.text)[1]


def _listed(page):
    return re.findall(r'data-part="row-([^"]+)"', page.text)


def _press(client, comment, act, **fields):
    page = client.get(f"/review/comments/{comment.id}")
    form = hidden_fields(page, f"/review/comments/{comment.id}/decision")
    return client.post(f"/review/comments/{comment.id}/{act}", data={**form, **fields})


def test_two_moderators_are_given_different_comments(queue, ola, mara):
    pages = [ola.get("/review"), mara.get("/review")]

    assert [_opened(page) for page in pages] == [queue[0].id, queue[1].id]
    assert "<bdi>" in pages[1].text
    assert "Ola is looking at it" in pages[1].text


def test_a_claim_ends_by_itself_unless_it_is_renewed(services, queue, ola, mara):
    ola.get("/review")
    services.clock.advance(seconds=80)
    renewed = _press(ola, queue[0], "claim")
    services.clock.advance(seconds=80)

    still_held = _opened(mara.get("/review"))
    services.clock.advance(seconds=20)
    free_again = _opened(mara.get("/review"))

    assert renewed.status_code == 204
    assert still_held == queue[1].id
    assert free_again == queue[0].id


def test_who_only_looks_claims_nothing_and_is_offered_no_decision(services, queue, ola):
    restrict(services, role=Role.READER)

    page = ola.get("/review")

    assert services.claims.find([c.id for c in queue], now=NOW) == {}
    assert 'class="rule"' not in page.text
    assert "/distrust" not in page.text


def test_without_claims_the_queue_works_all_the_same(queue):
    services = make_services(claims=Overridden(None, take=away, find=away, end=away))
    comment = keep(services)
    client = signed_in(services)

    page = client.get("/review")
    answer = rule(client, comment, "approve")

    assert _opened(page) == comment.id
    assert answer.status_code == 303


def test_a_skipped_comment_moves_to_the_end_and_is_free_for_others(queue, ola, mara):
    ola.get("/review")

    answer = _press(ola, queue[0], "skip", then=queue[1].id)
    page = ola.get(answer.location)
    again = ola.get("/review")

    assert _opened(page) == queue[1].id
    assert "Skipped." in page.text
    assert _listed(again) == [queue[1].id, queue[2].id, queue[0].id]
    assert _opened(mara.get("/review")) == queue[0].id
