"""Moderators decide many comments in one go, chosen, of a campaign or found, and take it back."""

import csv
import io
import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import Author, CommentId, Post, SiteId
from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment
from service.web.pages.campaigns import MEMBERS_SHOWN
from tests.factories import NOW, SITE, keep_all, make_comment
from tests.fakes import Overridden, make_services, make_site
from tests.functional.filled import join, keep_campaign, keep_single
from tests.functional.moderators import (
    hidden_fields,
    keep,
    post,
    restrict,
    rulings,
    signed_in,
    words,
)

KETTLES = SiteId("site-2")


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id=KETTLES, name="Kettle blog")])


def bulk(client, ids, ruling="reject", **fields):
    return post(client, "/review/bulk", id=ids, ruling=ruling, **fields)


def test_chosen_comments_are_decided_and_all_taken_back_from_the_page_of_such_acts(
    services, client
):
    ids = [keep(services).id for _ in range(3)]

    decided = bulk(client, ids, note=" A campaign. ", next="/review/bulk")
    page = client.get(decided.location)
    [done] = services.bulk_decisions.recent(site_ids=None, limit=9)
    path = f"/review/bulk/{done.id}/undo"
    undone = client.post(path, data=hidden_fields(page, path))
    after = client.get(undone.location)

    assert decided.status_code == undone.status_code == 303
    assert "3 comments rejected." in page.text
    assert "3 decisions undone." in after.text
    assert path not in after.text
    cases = services.cases.find(ids)
    assert [case.decision for case in cases] == [None] * 3
    assert {case.decisions[0].note for case in cases} == {"A campaign."}
    assert cases[0].decisions[0].decided_by == "Ola"


@pytest.mark.parametrize(
    ("ids", "fields", "status", "says"),
    [
        ([], {}, 400, "Choose at least one comment."),
        (["c1"], {"ruling": "maybe"}, 400, "Go back and try again."),
        (["c1"], {"note": "x" * 501}, 422, "Go back and try again."),
    ],
)
def test_a_form_that_decides_nothing_is_refused(services, client, ids, fields, status, says):
    answer = bulk(client, ids, **fields)

    assert answer.status_code == status
    assert says in answer.text
    assert services.bulk_decisions.recent(site_ids=None, limit=9) == []


LIST = "/review/campaigns"


def form_of(page, campaign_id):
    """Return the fields that the form of a campaign's page sends unchanged."""
    ticked = re.findall(r'type="checkbox" name="id" value="([^"]+)" checked', page.text)
    shown = re.findall(r'name="shown" value="([^"]+)"', page.text)
    return {**hidden_fields(page, f"{LIST}/{campaign_id}/decision"), "id": ticked, "shown": shown}


def decide_members(client, campaign_id, *, excepted=(), **fields):
    """Untick some of a page's comments and reject the others."""
    form = form_of(client.get(f"{LIST}/{campaign_id}"), campaign_id)
    form["id"] = [one for one in form["id"] if one not in excepted]
    return client.post(
        f"{LIST}/{campaign_id}/decision", data={**form, "ruling": "reject", **fields}
    )


def test_a_campaign_is_rejected_but_for_its_exceptions(services, client):
    campaign_id, ids = keep_campaign(services, 40)

    answer = decide_members(client, campaign_id, excepted=ids[3:5], note="Boilers again")
    page = client.get(answer.location)

    assert answer.status_code == 303
    assert "38 comments rejected." in words(page)
    expected = [None if one in ids[3:5] else Ruling.REJECT for one in ids]
    assert rulings(services, ids) == expected
    case = services.cases.get(ids[0])
    assert (case.decision.decided_by, case.decision.note) == ("Ola", "Boilers again")
    assert services.campaigns.get(campaign_id, site_ids=None).waiting == 2


def test_exceptions_leave_if_the_moderator_says_so_and_can_be_put_back(services, client):
    campaign_id, ids = keep_campaign(services, 6)

    page = client.get(decide_members(client, campaign_id, excepted=ids[:2], leave="yes").location)
    left = [services.cases.get(one).campaign_id for one in ids]
    back = post(client, f"{LIST}/{campaign_id}/put-back")

    assert left == [None, None, *[campaign_id] * 4]
    assert "Taken out 2 comments" in words(page)
    assert "2 comments put back." in words(client.get(back.location))
    assert {services.cases.get(one).campaign_id for one in ids} == {campaign_id}
    acts = [entry.act for entry in services.audit_log.recent(subject=campaign_id)]
    assert acts == ["put back into campaign", "take out of campaign"]


def test_what_looks_sincere_comes_unticked_and_neither_that_nor_later_ones_are_taken_along(
    services, client
):
    campaign_id, ids = keep_campaign(services, MEMBERS_SHOWN + 8, low=5)
    page = client.get(f"{LIST}/{campaign_id}")
    late = keep_single(services, 3, received_at=NOW)
    join(services, [ids[0], *late])

    form = form_of(page, campaign_id) | {"ruling": "reject", "others": "yes"}
    told = client.post(f"{LIST}/{campaign_id}/decision", data=form)

    # The five are the oldest, beyond the page; three others are there with them.
    assert "Also the other 3 waiting comments" in words(page)
    assert told.status_code == 303
    assert rulings(services, ids) == [None] * 5 + [Ruling.REJECT] * (MEMBERS_SHOWN + 3)
    assert rulings(services, late) == [None] * 3


def test_what_a_colleague_decided_stands_and_a_form_sent_twice_tells_what_it_did(services, client):
    campaign_id, ids = keep_campaign(services, 4)
    form = form_of(client.get(f"{LIST}/{campaign_id}"), campaign_id) | {"ruling": "reject"}
    decide_comment(ids[0], Ruling.APPROVE, services, decided_by="Mara")

    answers = [client.post(f"{LIST}/{campaign_id}/decision", data=form) for _ in range(2)]

    assert [one.status_code for one in answers] == [303, 303]
    assert "3 comments rejected." in words(client.get(f"{LIST}/{campaign_id}"))
    assert rulings(services, ids) == [Ruling.APPROVE, *[Ruling.REJECT] * 3]


def test_whoever_sees_one_site_sees_its_members_alone_and_decides_no_others(services):
    here, mine = keep_campaign(services, 4, site_id="site-2", text="Mine")
    theirs = keep_single(services, 5, text="Theirs", post=Post(title="Their post"))
    hidden, _ = keep_campaign(services, 3, text="Hidden")
    join(services, [mine[0], *theirs])
    client = signed_in(services, "Kim")
    restrict(services, "Kim", site_ids=("site-2",))

    listed = client.get(LIST)
    page = client.get(f"{LIST}/{here}")
    decide_members(client, here, id=[*mine, *theirs], others="yes")

    for seen in (listed, page):
        assert "Theirs" not in seen.text
        assert "Their post" not in seen.text
        assert "Radiator blog" not in seen.text
        assert "Hidden" not in seen.text
    assert "4 comments" in words(listed)
    assert rulings(services, mine) == [Ruling.REJECT] * 4
    assert rulings(services, theirs) == [None] * 5
    assert client.get(f"{LIST}/{hidden}").status_code == 404


def test_beside_a_comment_stands_what_others_of_its_campaign_became(services, client):
    campaign_id, ids = keep_campaign(services, 8)
    decide_comment(ids[-1], Ruling.REJECT, services, decided_by="Mara")
    decide_comment(ids[-2], Ruling.REJECT, services, decided_by=CAMPAIGN_POLICY)

    page = client.get(f"/review/comments/{ids[-3]}").text

    [similar] = re.findall(r'<section class="similar.*?</section>', page, re.DOTALL)
    assert f"/review/campaigns/{campaign_id}" in similar
    assert "One of 8 in a campaign" in similar
    assert similar.count("Rejected</span>") == 2
    assert re.findall(r"Comment number (\d) of 8", similar) == ["7", "6", "4", "3", "2"]


def keep_found(services, comment, *given, **named):
    """Keep a comment that is found at once."""
    keep(services, comment, *given, **named)
    services.search.index_due(limit=10)
    return comment


def arrived(minutes, text="cheap loans", **changes):
    return make_comment(text, received_at=NOW - timedelta(minutes=minutes), **changes)


def decide_found(client, page):
    form = hidden_fields(page, "/review/search/decision")
    return client.post("/review/search/decision", data={**form, "ruling": "reject"})


def test_all_that_was_counted_is_decided_and_taken_back(services, client):
    found = [keep_found(services, arrived(n)) for n in (1, 2)]
    left = keep_found(services, arrived(3, "a kettle"))

    answer = decide_found(client, client.get("/review/search?q=loans"))

    assert answer.status_code == 303
    ids = [one.id for one in (*found, left)]
    assert rulings(services, ids) == [Ruling.REJECT, Ruling.REJECT, None]
    page = client.get(answer.location)
    undo = re.search(r'action="(/review/bulk/[^"]+/undo)"', page.text)[1]
    client.post(undo, data=hidden_fields(page, undo))
    assert rulings(services, ids) == [None] * 3


@pytest.mark.parametrize(("minutes", "status"), [(1, 303), (-1, 409)])
def test_what_comes_in_after_the_page_was_shown_is_not_decided(services, client, minutes, status):
    """What arrives later is left out; where the count differs, nothing is decided."""
    seen = keep_found(services, arrived(2))
    page = client.get("/review/search?q=loans")
    services.clock.advance(minutes=1)
    late = keep_found(services, arrived(-minutes))

    answer = decide_found(client, page)

    assert answer.status_code == status
    assert ("Nothing was decided" in answer.text) is (status == 409)
    assert rulings(services, [seen.id, late.id]) == [Ruling.REJECT if status == 303 else None, None]


def test_a_colleagues_decision_since_the_page_was_shown_is_not_overridden(services, client):
    found = [keep_found(services, arrived(n)) for n in (1, 2)]
    page = client.get("/review/search?q=loans")
    decide_comment(found[0].id, Ruling.APPROVE, services, decided_by="jo")

    answer = decide_found(client, page)

    assert answer.status_code == 409
    assert "Nothing was decided" in answer.text
    assert rulings(services, [one.id for one in found]) == [Ruling.APPROVE, None]


def test_a_form_that_is_sent_twice_decides_once(services, client):
    found = keep_found(services, arrived(1))
    page = client.get("/review/search?q=loans")

    assert [decide_found(client, page).status_code for _ in range(2)] == [303, 303]
    assert rulings(services, [found.id]) == [Ruling.REJECT]


def test_too_many_are_not_decided_at_once(services):
    def as_many_as_asked_for(_query, *, site_ids, limit):
        return [CommentId(f"c{number}") for number in range(limit)]

    search = Overridden(services.search, ids=as_many_as_asked_for)
    client = signed_in(replace(services, search=search))

    form = {
        "q": "loans",
        "counted": "9000",
        "decided": "0",
        "until": NOW.isoformat(),
        "ruling": "approve",
    }
    answer = post(client, "/review/search/decision", **form)

    assert answer.status_code == 400
    assert "finds more than" in answer.text


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx", "＝1", " =HYPERLINK(1)", "\n=1"]


def test_cells_of_a_csv_are_no_formulas_and_come_back_whole(services, client):
    for n, formula in enumerate(FORMULAS):
        of = {"author": Author(name=formula, url=formula), "post": Post(url=formula, title=formula)}
        keep_found(services, arrived(n + 1, f"{formula} loans", **of))

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
    keep_found(services, arrived(1, 'loans \x00 \ud800 "\n\u2028 \u202e', author=Author(name="=1")))
    keep_found(services, arrived(2), Outcome.SPAM)

    answer = client.get("/review/search/export?q=loans&as=jsonl")

    lines = answer.data.decode("utf-8").split("\n")
    rows = [json.loads(line) for line in lines if line]
    assert rows[0]["text"] == 'loans \ufffd \ufffd "\n\u2028 \u202e'
    assert rows[0]["author_name"] == "=1"
    assert rows[1]["outcome"] == "spam"
    assert rows[1]["signals"] == ["shortened_link"]


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
