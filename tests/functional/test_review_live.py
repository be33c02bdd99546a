"""An open page is told what others do, over a real server, and never takes all of its threads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlencode

import pytest

from service.domain.claim import Claim
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.errors import StoreUnavailableError
from service.domain.verdict import Outcome
from service.moderation.admin.sessions import end_session, list_sessions
from service.moderation.review.decide import decide_comment, undo_decision
from service.stores.sql.watch import SqlReviewWatch
from service.web.pages.every_page import LIVE
from service.web.pages.review.live import Interest, Live
from tests.databases import fresh_stores
from tests.factories import NOW, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, make_app, signed_in
from tests.functional.serving import serving


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def app(services):
    return make_app(services)


@pytest.fixture
def client(services, app):
    return signed_in(services, app=app)


@pytest.fixture
def server(app):
    with serving(app) as address:
        yield address


@contextmanager
def listening(server, client, *comments, **query) -> Iterator[HTTPResponse]:
    """Open a stream as the page's script does."""
    connection = HTTPConnection(*server, timeout=20)
    values = {"id": ",".join(c.id for c in comments), "since": NOW.isoformat()} | query
    cookie = client.get_cookie("slopsieve").value
    connection.request(
        "GET", f"/review/live?{urlencode(values)}", headers={"Cookie": f"slopsieve={cookie}"}
    )
    try:
        yield connection.getresponse()
    finally:
        connection.close()


def next_event(answer: HTTPResponse) -> list[str] | None:
    """Return which rows the next event names; None once the stream has ended."""
    for line in answer:
        if line.startswith(b"data: "):
            return json.loads(line.removeprefix(b"data: "))["rows"]
    return None


def claim(services, comment, user="ada") -> None:
    services.review.claims.take(
        Claim(
            comment_id=comment.id,
            user_id=user,
            user_name="Ada",
            since=services.common.clock(),
            until=services.common.clock() + timedelta(seconds=90),
        )
    )


def test_a_page_is_told_when_others_decide_take_back_or_look(services, client, server):
    first, second = keep(services), keep(services)

    with listening(server, client, first, second, waiting=2) as answer:
        claim(services, second)
        seen = [next_event(answer)]
        decide_comment(first.id, Ruling.APPROVE, services, decided_by="Mara")
        seen.append(next_event(answer))
        undo_decision(first.id, services, undone_by="Mara")
        seen.append(next_event(answer))

    assert answer.getheader("Content-Type").startswith("text/event-stream")
    assert answer.getheader("Set-Cookie") is None
    assert seen == [[second.id], [first.id], [first.id]]


def test_what_happened_between_drawing_and_listening_is_told_at_once(services, client, server):
    comment, other = keep(services), keep(services)
    decide_comment(comment.id, Ruling.REJECT, services, decided_by="Mara")

    with listening(server, client, comment, other, waiting=1) as answer:
        assert next_event(answer) == [comment.id]


def test_a_page_is_told_that_something_new_waits(services, client, server):
    comment = keep(services)

    with listening(server, client, comment, waiting=1) as answer:
        keep(services, judged_at=NOW + timedelta(seconds=1))

        assert next_event(answer) == []


def test_ones_own_claim_is_no_news(services, client, server):
    own, others = keep(services), keep(services)
    claim(services, own, user=services.accounts.users.find("Ola").id)

    with listening(server, client, own, others, waiting=2) as answer:
        claim(services, others)

        assert next_event(answer) == [others.id]


def test_a_stream_ends_with_its_session(services, client, server):
    comment = keep(services)

    with listening(server, client, comment, waiting=1) as answer:
        ola = services.accounts.users.find("Ola")
        for one in list_sessions(ola, services.accounts, services.common):
            end_session(one.id, ola, services.accounts, services.common)
        claim(services, comment)

        assert next_event(answer) is None


def test_a_stream_ends_once_its_account_sees_other_sites(services, client, server):
    comment = keep(services)

    with listening(server, client, comment, waiting=1) as answer:
        ola = services.accounts.users.find("Ola")
        services.accounts.users.replace(replace(ola, site_ids=(SiteId("site-2"),)))
        claim(services, comment)

        assert next_event(answer) is None


class _Sessions:
    """Sessions of a store that is away for a while."""

    def __init__(self, sessions) -> None:
        self._sessions = sessions
        self.away = False

    def __getattr__(self, name):
        return getattr(self._sessions, name)

    def get(self, session_id):
        if self.away:
            raise StoreUnavailableError("away")
        return self._sessions.get(session_id)


def test_a_stream_outlives_a_store_that_is_away():
    stores = fresh_stores(sites=[make_site()])
    sessions = _Sessions(stores.sessions)
    services = make_services(stores=stores, sessions=sessions)
    app = make_app(services)
    client = signed_in(services, app=app)
    comment = keep(services)

    with serving(app) as server, listening(server, client, comment) as answer:
        sessions.away = True
        claim(services, comment)

        assert next_event(answer) == [comment.id]


def test_one_stream_too_many_is_told_to_ask_now_and_then(services, client, server):
    keep(services)

    with (
        listening(server, client, page="one"),
        listening(server, client, page="two"),
        listening(server, client, page="three") as third,
    ):
        assert third.status == 204


def test_a_page_that_comes_back_ends_the_stream_it_had_before(services, client, server):
    comment = keep(services)

    with listening(server, client, page="one") as left:
        for _ in range(5):
            with listening(server, client, comment, page="one", waiting=1) as answer:
                assert answer.status == 200

        assert next_event(left) is None


def test_streams_end_at_once_when_the_server_stops(services, app, client, server):
    with listening(server, client) as answer:
        app.extensions[LIVE].close()

        assert next_event(answer) is None
    with listening(server, client) as late:
        assert late.status == 204


def test_asking_for_the_head_of_a_stream_holds_nothing(services, app, client):
    answers = [client.head("/review/live") for _ in range(4)]

    assert {answer.status_code for answer in answers} == {204}


class _FlakyWatch(SqlReviewWatch):
    """Is away for its first two looks, and broken for the third."""

    looks = 0

    def row_states(self, ids):
        """Raise, then answer."""
        self.looks += 1
        if self.looks <= 2:
            raise StoreUnavailableError("away")
        if self.looks == 3:
            raise RuntimeError("broken")
        return super().row_states(ids)


def test_a_store_that_was_away_is_looked_at_again():
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, watch=_FlakyWatch(stores.engine))
    comment = keep(services)
    decide_comment(comment.id, Ruling.APPROVE, services, decided_by="Mara")
    live = Live(services.review, services.common, max_streams=1, every_seconds=0.001)

    stream = live.join(
        Interest(page="p", user_id="u", site_ids=None, ids=(comment.id,), waiting=None, since=NOW)
    )

    assert stream.wait(20) == [comment.id]
    live.close()


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
    assert services.review.claims.find([untouched.id], now=NOW) == {}


def test_news_leave_out_what_is_seen_what_is_old_and_other_peoples_sites():
    stores = fresh_stores(sites=[make_site(), make_site(id="site-2", name="Knitting")])
    services = make_services(stores=stores)
    client = signed_in(services)
    ola = services.accounts.users.find("Ola")
    services.accounts.users.replace(replace(ola, site_ids=("site-1",)))
    keep(services)
    later = {"judged_at": NOW + timedelta(seconds=1)}
    seen, new = keep(services, **later), keep(services, **later)
    hidden = keep(services, make_comment(site_id="site-2"), **later)

    answer = _rows(client, hidden, seen=seen.id)

    assert f'data-ids="{new.id}"' in answer.text
    assert hidden.id not in answer.text


@pytest.mark.parametrize(
    "query",
    [
        "",
        "id=",
        "id=%00,a%0a,{{7}}",
        "id=" + "x," * 9_000,
        "since=never",
        "since=2026-03-01",
        "since=9999-12-31T23:59:59-14:00",
        "since=0001-01-01T00:00:00%2B14:00",
    ],
)
def test_nonsense_in_the_question_is_answered_with_what_there_is(services, client, query):
    keep(services)

    answer = client.get(f"/review/rows?{query}")

    assert answer.status_code == 200
    assert 'data-waiting="1"' in answer.text


def test_what_a_page_asks_by_itself_does_not_prolong_the_session(services, client):
    comment = keep(services)
    by_hand = client.get("/review")

    by_itself = _rows(client, comment)

    assert "Set-Cookie" in by_hand.headers
    assert "Set-Cookie" not in by_itself.headers


def test_lists_that_do_not_hold_what_waits_announce_nothing(services, client):
    keep(services, judged_at=NOW + timedelta(seconds=1))

    answers = {show: _rows(client, show=show).text for show in ("needs-review", "decided")}

    assert "1 new comment, show it" in answers["needs-review"]
    assert "new comment" not in answers["decided"]
