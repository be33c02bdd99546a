"""Moderators search, decide what was found, export it and keep views."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta

import pytest

from service.domain.comment import Author, CommentId, Post, SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from tests.databases import fresh_stores
from tests.factories import NOW, SITE, keep_all, make_comment
from tests.fakes import Overridden, make_services, make_site
from tests.functional import moderators
from tests.functional.moderators import hidden_fields, restrict, signed_in, token_of

KETTLES = SiteId("site-2")


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id=KETTLES, name="Kettle blog")])


def keep(services, comment, *given, **named):
    """Keep a comment that is found at once."""
    moderators.keep(services, comment, *given, **named)
    services.search.index_due(limit=10)
    return comment


def arrived(minutes, text="cheap loans", **changes):
    return make_comment(text, received_at=NOW - timedelta(minutes=minutes), **changes)


def decide(client, line, ruling, **fields):
    page = client.get("/review/search", query_string={"q": line})
    form = hidden_fields(page, "/review/search/decision")
    return client.post("/review/search/decision", data={**form, "ruling": ruling, **fields})


def rulings(services, *comments):
    found = [services.cases.get(one.id).decision for one in comments]
    return [one.ruling if one else None for one in found]


def test_all_that_was_counted_is_decided_and_taken_back(services, client):
    found = [keep(services, arrived(n)) for n in (1, 2)]
    left = keep(services, arrived(3, "a kettle"))

    answer = decide(client, "loans", "reject")

    assert answer.status_code == 303
    assert rulings(services, *found, left) == [Ruling.REJECT, Ruling.REJECT, None]
    page = client.get(answer.location)
    undo = re.search(r'action="(/review/strokes/[^"]+/undo)"', page.text)[1]
    client.post(undo, data=hidden_fields(page, undo))
    assert rulings(services, *found) == [None, None]


@pytest.mark.parametrize(("minutes", "status"), [(1, 303), (-1, 409)])
def test_what_comes_in_after_the_page_was_shown_is_not_decided(services, client, minutes, status):
    """What arrives later is left out; where the count differs, nothing is decided."""
    seen = keep(services, arrived(2))
    page = client.get("/review/search?q=loans")
    services.clock.advance(minutes=1)
    late = keep(services, arrived(-minutes))

    form = hidden_fields(page, "/review/search/decision")
    answer = client.post("/review/search/decision", data={**form, "ruling": "reject"})

    assert answer.status_code == status
    assert ("Nothing was decided" in answer.text) is (status == 409)
    assert rulings(services, seen, late) == [Ruling.REJECT if status == 303 else None, None]


def test_too_many_are_not_decided_at_once():
    def as_many_as_asked_for(_query, *, site_ids, limit):
        return [CommentId(f"c{number}") for number in range(limit)]

    stores = fresh_stores(sites=[make_site()])
    search = Overridden(stores.search, ids=as_many_as_asked_for)
    client = signed_in(make_services(stores=stores, search=search))
    token = {"csrf_token": token_of(client.get("/review/search"))}
    form = {**token, "q": "loans", "counted": "9000", "until": NOW.isoformat(), "ruling": "approve"}

    answer = client.post("/review/search/decision", data=form)

    assert answer.status_code == 400
    assert "finds more than" in answer.text


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "＝1", " =HYPERLINK(1)", "\n=1"]


def test_cells_of_a_csv_are_no_formulas_and_come_back_whole(services, client):
    for n, formula in enumerate(FORMULAS):
        author = Author(name=formula, url=formula)
        post = Post(url=formula, title=formula)
        keep(services, arrived(n + 1, f"{formula} loans", author=author, post=post))

    answer = client.get("/review/search/export?q=loans&as=csv")

    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="comments.csv"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    rows = list(csv.DictReader(io.StringIO(answer.data.decode("utf-8-sig"), newline="")))
    assert [row["author_name"] for row in rows] == [f"'{formula}" for formula in FORMULAS]
    for row in rows:
        for cell in row.values():
            assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝"))


def test_every_line_of_an_export_is_whole_json_whatever_a_comment_holds(services, client):
    keep(services, arrived(1, 'loans \x00 \ud800 "\n\u2028 \u202e', author=Author(name="=1")))
    keep(services, arrived(2), Outcome.SPAM)

    answer = client.get("/review/search/export?q=loans&as=jsonl")

    lines = answer.data.decode("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert rows[0]["text"] == 'loans \ufffd \ufffd "\n\u2028 \u202e'
    assert rows[0]["author_name"] == "=1"
    assert rows[1]["outcome"] == "spam"
    assert rows[1]["signals"] == ["front_page_link"]


def test_an_export_holds_all_that_is_found_and_only_what_the_account_sees(services, client):
    ours, others = [arrived(n + 1) for n in range(260)], [arrived(1, site_id=KETTLES)]
    keep_all(services.comments, *ours, *others)
    services.search.index_due(limit=1_000)
    restrict(services, site_ids=(SITE,))

    answer = client.get("/review/search/export?q=loans&as=jsonl")

    assert answer.data.count(b"\n") == 260
    # The log has its size and none of its words.
    [entry] = [one for one in services.audit_log.recent() if one.act == "export"]
    assert (entry.actor, entry.detail) == ("Ola", "260 as jsonl")
