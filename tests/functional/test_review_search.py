"""Moderators search, decide what was found, export it and keep views."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.comment import Author, CommentId, Lane, Post, Sender, SiteId
from service.domain.decision import Ruling
from service.domain.search import FIELD_NAMES, MAX_QUERY_CHARS
from service.domain.user import Role
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment
from service.ports.comments import NewComment
from service.stores.sql.search import SqlCaseSearch
from service.web.pages.review.about_sender import about_sender_view
from service.web.pages.search.search_page import PAGE_SIZE
from tests.databases import fresh_stores
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional import moderators
from tests.functional.moderators import hidden_fields, make_app, signed_in, token_of

KETTLES = SiteId("site-2")


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id=KETTLES, name="Kettle blog")])


@pytest.fixture
def client(services):
    return signed_in(services)


def keep(services, comment, *given, **named):
    """Keep a comment that is found at once."""
    moderators.keep(services, comment, *given, **named)
    services.review.search.index_due(limit=10)
    return comment


def become(services, name="Ola", **changes):
    """Change what an account may do."""
    services.accounts.users.replace(replace(services.accounts.users.find(name), **changes))


def arrived(minutes, text="cheap loans", **changes):
    return make_comment(text, received_at=NOW - timedelta(minutes=minutes), **changes)


def listed(page):
    return re.findall(r'data-part="row-([^"]+)"', page.text)


def decide(client, line, ruling, **fields):
    page = client.get("/review/search", query_string={"q": line})
    form = hidden_fields(page, "/review/search/decision")
    return client.post("/review/search/decision", data={**form, "ruling": ruling, **fields})


def rulings(services, *comments):
    found = [services.review.cases.get(one.id).decision for one in comments]
    return [one.ruling if one else None for one in found]


def test_what_is_found_is_listed_newest_first_with_its_number(services, client):
    old, new = keep(services, arrived(9)), keep(services, arrived(3))
    keep(services, arrived(1, "a kettle"))

    page = client.get("/review/search?q=loans")

    assert listed(page) == [new.id, old.id]
    assert "2 comments" in page.text
    assert "Reject all 2" in page.text


def test_further_pages_are_led_to(services, client):
    for minute in range(1, PAGE_SIZE + 3):
        keep(services, arrived(minute))

    first = client.get("/review/search?q=loans")
    further = re.search(r'further" href="([^"]+)"', first.text)[1].replace("&amp;", "&")
    second = client.get(further)

    assert len(listed(first)) == PAGE_SIZE
    assert len(listed(second)) == 2


def test_fields_of_the_form_become_one_line(client):
    chosen = {"q": "loans", "author": 'Best "Radiators', "outcome": "spam", "from": "2026-02-01"}

    answer = client.get("/review/search", query_string=chosen | {"site": "Kettle blog"})

    assert answer.status_code == 303
    page = client.get(answer.location)
    assert page.status_code == 200
    for part in ("author:&#34;Best Radiators&#34;", "outcome:spam", "site:&#34;Kettle blog&#34;"):
        assert part in page.text


def test_every_problem_of_a_line_is_named_at_once(client):
    page = client.get("/review/search?q=foo:1 outcome:wrong from:yesterday site:nowhere")

    assert page.status_code == 400
    for field in ("foo", "outcome", "from", "site"):
        assert f"<strong>{field}</strong>" in page.text


def test_only_sites_of_the_account_are_searched_and_named(services, client):
    here = keep(services, arrived(2))
    there = keep(services, arrived(1, site_id=KETTLES))
    become(services, site_ids=(SITE,))

    page = client.get("/review/search?q=loans")
    other = client.get('/review/search?q=loans site:"Kettle blog"')
    without = client.get('/review/search?q=loans -site:"radiator blog"')

    assert listed(page) == [here.id]
    assert there.id not in page.text
    assert other.status_code == 400
    assert "Kettle" not in page.text
    assert listed(without) == []


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


def test_what_comes_in_after_the_page_was_shown_is_not_decided(services, client):
    seen = keep(services, arrived(1))
    page = client.get("/review/search?q=loans")
    services.common.clock.advance(minutes=1)
    unseen = keep(services, make_comment("cheap loans", received_at=services.common.clock()))

    form = hidden_fields(page, "/review/search/decision")
    client.post("/review/search/decision", data={**form, "ruling": "reject"})

    assert rulings(services, seen, unseen) == [Ruling.REJECT, None]


def test_nothing_is_decided_if_more_is_found_than_was_counted(services, client):
    seen = keep(services, arrived(2))
    page = client.get("/review/search?q=loans")
    late = keep(services, arrived(1))

    form = hidden_fields(page, "/review/search/decision")
    answer = client.post("/review/search/decision", data={**form, "ruling": "approve"})

    assert answer.status_code == 409
    assert "Nothing was decided" in answer.text
    assert rulings(services, seen, late) == [None, None]


class EverythingFound(SqlCaseSearch):
    """Finds as many comments as anybody asks for; see `CaseSearch`."""

    def ids(self, query, *, site_ids, limit):
        """See `CaseSearch.ids`."""
        return [CommentId(f"c{number}") for number in range(limit)]


def test_too_many_are_not_decided_at_once():
    stores = fresh_stores(sites=[make_site()])
    services = make_services(stores=stores, search=EverythingFound(stores.engine))
    client = signed_in(services)
    token = {"csrf_token": token_of(client.get("/review/search"))}
    form = {**token, "q": "loans", "counted": "9000", "until": "1", "ruling": "approve"}

    answer = client.post("/review/search/decision", data=form)

    assert answer.status_code == 400
    assert "finds more than" in answer.text


def test_all_comments_there_are_are_listed_but_not_decided_together(services, client):
    kept = keep(services, arrived(1))
    token = {"csrf_token": token_of(client.get("/review/search"))}
    form = {**token, "q": " ", "counted": "1", "until": "9" * 16, "ruling": "approve"}

    page = client.get("/review/search")
    answer = client.post("/review/search/decision", data=form)

    assert listed(page) == [kept.id]
    assert "/review/search/decision" not in page.text
    assert answer.status_code == 400
    assert rulings(services, kept) == [None]


def test_how_many_are_decided_already_is_said(services, client):
    keep(services, arrived(1))
    decide_comment(keep(services, arrived(2)).id, Ruling.APPROVE, services, decided_by="Mara")

    page = client.get("/review/search?q=loans")

    assert "1 of them is already decided" in page.text


def test_readers_search_and_export_but_do_not_decide(services, client):
    keep(services, arrived(1))
    form = hidden_fields(client.get("/review/search?q=loans"), "/review/search/decision")
    become(services, role=Role.READER)

    page = client.get("/review/search?q=loans")
    refused = client.post("/review/search/decision", data={**form, "ruling": "approve"})

    assert "all 1" not in page.text
    assert "/review/search/decision" not in page.text
    assert refused.status_code == 403
    assert client.get("/review/search/export?q=loans&as=csv").status_code == 200


HOSTILE = [
    "x" * 10_000,
    '"' * 999,
    "(" * 500 + "a+" * 200,
    "' OR 1=1 --",
    "%_%",
    "NEAR(a b) AND NOT c*",
    "{a b} : c ^d",
    "\u202eevil\u202c",
    "شراء رخيص",
    "<script>alert(1)</script>",
    "{{ 7*7 }}",
    "\x00\x1a",
    "a\nb\rc",
    "=1+1",
    "-" * 900,
    "domain:\u0000.com signal:' by:\" model:%",
]


@pytest.mark.parametrize("line", HOSTILE)
def test_hostile_lines_are_searched_for_or_refused_and_shown_as_text(services, client, line):
    keep(services, arrived(1))

    page = client.get("/review/search", query_string={"q": line})

    assert page.status_code in {200, 400}
    assert "<script>alert" not in page.text
    assert "49" not in page.text.partition('id="q"')[2][:200]


def test_a_line_that_is_too_long_is_refused_with_a_remedy(client):
    page = client.get("/review/search", query_string={"q": "x" * (MAX_QUERY_CHARS + 1)})

    assert page.status_code == 400
    assert "look for a few words of it" in page.text


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
    services.intake.comments.add(
        [NewComment(comment=one, lane=Lane.BULK) for one in (*ours, *others)]
    )
    services.review.search.index_due(limit=1_000)
    become(services, site_ids=(SITE,))

    answer = client.get("/review/search/export?q=loans&as=jsonl")

    assert answer.data.count(b"\n") == 260


def test_an_export_is_logged_with_its_size_and_without_its_words(services, client):
    keep(services, arrived(1))

    client.get("/review/search/export?q=loans&as=csv")

    [entry] = [one for one in services.common.audit_log.recent() if one.act == "export"]
    assert (entry.actor, entry.detail) == ("Ola", "1 as csv")


def test_an_export_of_a_wrong_line_is_a_page_that_says_so(client):
    assert client.get("/review/search/export?q=foo:1&as=csv").status_code == 400
    assert client.get("/review/search/export?q=x&as=exe").status_code == 400


def test_the_page_names_all_fields_there_are(client):
    page = client.get("/review/search")

    assert ", ".join(FIELD_NAMES) in page.text


def test_the_senders_panel_shows_keys_and_never_more_of_them(services):
    key = "3f9a1c02" + "5" * 24
    sender = Sender(address_key=key)
    opened = keep(services, arrived(2, sender=sender))
    other = keep(services, arrived(1, "<b>more</b>\u202e", sender=sender))
    decide_comment(other.id, Ruling.REJECT, services, decided_by="Mara")
    app = make_app(services)

    with app.test_request_context():
        view = about_sender_view(
            services.review.cases.get(opened.id), services.reputation, services.common, (SITE,)
        )
        shown = app.jinja_env.get_template("about_sender.html").render(sender=view)

    assert "<code>3f9a1c02</code>" in shown
    assert key not in shown
    assert "&lt;b&gt;more" in shown
    assert "\u202e" not in shown
    assert "rejected" in shown


def test_a_sender_of_whom_nothing_is_kept_has_no_panel(services):
    opened = keep(services, arrived(1))

    with make_app(services).test_request_context():
        assert (
            about_sender_view(
                services.review.cases.get(opened.id), services.reputation, services.common, None
            )
            is None
        )
