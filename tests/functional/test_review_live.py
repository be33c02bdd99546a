"""An open page asks what others do: small counts while nothing changes, rows once it does."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from service.domain.claim import Claim
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment, undo_decision
from tests.databases import fresh_stores
from tests.factories import NOW, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, signed_in


@pytest.fixture
def services():
    return make_services()


@pytest.fixture
def client(services):
    return signed_in(services)


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
    claim(services, own, user=services.accounts.users.find("Ola").id)
    new = keep(services, judged_at=NOW + timedelta(seconds=1))
    keep(services, outcome=Outcome.HAM)

    answer = _counts(client, comment, own)

    assert answer.json["counts"] | {"needs-review": 3, "ham": 1, "spam": 0} == answer.json["counts"]
    assert answer.json["new"] == [new.id]
    assert answer.json["looked_at"] == {comment.id: "Ada"}
    assert "Set-Cookie" not in answer.headers


def test_counts_are_of_the_sites_that_the_account_sees(services, client):
    keep(services)
    ola = services.accounts.users.find("Ola")
    services.accounts.users.replace(replace(ola, site_ids=(SiteId("site-2"),)))

    assert _counts(client).json["counts"]["needs-review"] == 0


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
