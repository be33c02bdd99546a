"""Moderators decide many comments at once, see what was done so, and take it back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from service.domain.bulk_decision import ChosenBy
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.user import Role
from service.moderation.review.bulk_decisions import decide_together
from service.moderation.review.decide import decide_comment
from service.web.pages.review.bulk_decisions import BULK_DECISIONS_SHOWN
from tests.factories import SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, signed_in, token_of

OTHER_SITE = SiteId("site-2")
HOSTILE = '"><script>alert(1)</script>\u202e'


@pytest.fixture
def services():
    return make_services(sites=[make_site(), make_site(id=OTHER_SITE, name=HOSTILE)])


@pytest.fixture
def client(services):
    return signed_in(services)


def restrict(services, **changes):
    [user] = services.accounts.users.all()
    services.accounts.users.replace(replace(user, **changes))


def bulk(client, ids, ruling="reject", **fields):
    form = {"csrf_token": token_of(client.get("/password")), "id": ids, "ruling": ruling} | fields
    return client.post("/review/bulk", data=form)


def undo(client, bulk_decision_id, **fields):
    form = {"csrf_token": token_of(client.get("/password"))} | fields
    return client.post(f"/review/strokes/{bulk_decision_id}/undo", data=form)


def newest(services):
    return services.review.bulk_decisions.recent(site_ids=None, limit=1)[0]


def test_what_a_colleague_decided_meanwhile_is_not_overruled_from_the_queue(services, client):
    mine, theirs = keep(services), keep(services)
    decide_comment(theirs.id, Ruling.APPROVE, services, decided_by="Mara")

    bulk(client, [mine.id, theirs.id])
    from_queue = [services.review.cases.get(one.id).decision.ruling for one in (mine, theirs)]
    bulk(client, [theirs.id], show="decided")

    assert from_queue == [Ruling.REJECT, Ruling.APPROVE]
    assert services.review.cases.get(theirs.id).decision.ruling is Ruling.REJECT


def test_chosen_comments_are_decided_and_all_taken_back_from_the_page_of_such_acts(
    services, client
):
    ids = [keep(services).id for _ in range(3)]

    decided = bulk(client, ids, note=" A campaign. ", next="/review/strokes")
    page = client.get(decided.location)
    undone = undo(client, newest(services).id, next="/review/strokes")
    after = client.get(undone.location)

    assert decided.status_code == undone.status_code == 303
    assert "3 comments rejected." in page.text
    assert "3 decisions undone." in after.text
    assert "undo" in page.text
    assert f"/review/strokes/{newest(services).id}/undo" not in after.text
    cases = services.review.cases.find(ids)
    assert [case.decision for case in cases] == [None] * 3
    assert {case.decisions[0].note for case in cases} == {"A campaign."}
    assert cases[0].decisions[0].decided_by == "Ola"


def test_a_form_sent_twice_is_one_act(services, client):
    ids = [keep(services).id]

    for _ in range(2):
        bulk(client, ids, stroke="str_sent_twice")

    assert newest(services).n_decided == 1
    assert len(services.review.bulk_decisions.recent(site_ids=None, limit=9)) == 1


@pytest.mark.parametrize(
    ("ids", "fields", "says"),
    [
        ([], {}, "Choose at least one comment."),
        (["c1"], {"ruling": "maybe"}, "Choose to approve or to reject."),
        (["c1"], {"note": "x" * 501}, "A note has at most 500 characters."),
        (["../../etc"], {"ruling": ""}, "Choose at least one comment. Choose to approve"),
    ],
)
def test_a_form_that_decides_nothing_says_all_that_is_wrong(services, client, ids, fields, says):
    answer = bulk(client, ids, **fields)

    assert answer.status_code == 400
    assert says in answer.text
    assert services.review.bulk_decisions.recent(site_ids=None, limit=9) == []


def test_comments_of_sites_that_are_not_ones_own_are_left_out(services, client):
    restrict(services, site_ids=(SITE,))
    mine = keep(services).id
    theirs = keep(services, make_comment(site_id=OTHER_SITE)).id

    bulk(client, [mine, theirs])

    assert services.review.cases.get(theirs).decision is None
    assert (newest(services).n_decided, newest(services).n_left_out) == (1, 1)


def test_acts_on_other_sites_are_neither_listed_nor_undone(services, client):
    theirs = keep(services, make_comment(site_id=OTHER_SITE)).id
    both = [keep(services).id, keep(services, make_comment(site_id=OTHER_SITE)).id]
    asked = {"decided_by": "Mara", "what": ChosenBy.SEARCH}
    made = [decide_together(ids, Ruling.REJECT, services, **asked) for ids in ([theirs], both)]
    restrict(services, site_ids=(SITE,))

    page = client.get("/review/strokes")
    answers = [undo(client, one.id).status_code for one in made]

    assert "Nothing was decided together" in page.text
    assert answers == [404, 404]
    assert services.review.cases.get(theirs).decision is not None


def test_who_may_only_look_decides_nothing_and_sees_no_button(services, client):
    ids = [keep(services).id]
    bulk_decision = decide_together(
        ids, Ruling.APPROVE, services, decided_by="Mara", what=ChosenBy.CAMPAIGN
    )
    token = token_of(client.get("/password"))
    restrict(services, role=Role.READER)

    page = client.get("/review/strokes")
    answers = [
        client.post(path, data={"csrf_token": token, "id": ids, "ruling": "reject"}).status_code
        for path in ("/review/bulk", f"/review/strokes/{bulk_decision.id}/undo")
    ]

    assert f"{bulk_decision.id}/undo" not in page.text
    assert answers == [403, 403]


def test_names_are_shown_as_they_are_and_older_acts_on_the_next_page(services, client):
    for number in range(BULK_DECISIONS_SHOWN + 1):
        comment = keep(services, make_comment(site_id=OTHER_SITE))
        decide_together(
            [comment.id],
            Ruling.APPROVE,
            services,
            decided_by=f"{HOSTILE} {number}",
            what=ChosenBy.SELECTION,
        )

    page = client.get("/review/strokes")
    older = client.get(re.search(r'href="(/review/strokes\?before=[^"]+)"', page.text)[1])

    assert "<script>alert" not in page.text
    assert "\u202e" not in page.text
    assert page.text.count("/undo") == BULK_DECISIONS_SHOWN
    assert older.text.count("/undo") == 1


def test_a_note_comes_with_a_single_decision_and_no_browser_says_how_long_it_took(services, client):
    kept = keep(services).id
    token = token_of(client.get("/password"))

    client.post(
        f"/review/comments/{kept}/decision",
        data={"csrf_token": token, "ruling": "reject", "note": HOSTILE, "seconds": "7.25"},
    )

    decision = services.review.cases.get(kept).decision
    assert (decision.note, decision.seconds) == (HOSTILE, None)


def test_a_note_that_is_too_long_decides_nothing(services, client):
    comment = keep(services)
    form = {"csrf_token": token_of(client.get("/password")), "ruling": "reject", "note": "x" * 501}

    answer = client.post(f"/review/comments/{comment.id}/decision", data=form)

    assert answer.status_code == 400
    assert services.review.cases.get(comment.id).decision is None
