"""Moderators see rings of senders and what ties them, decide them in one go, and undo."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from service.campaigns.acts import Act, Tie
from service.domain.comment import Author, Lane
from service.domain.decision import Ruling
from service.domain.user import Role
from service.moderation.review.bulk_decisions import BULK_DECISION_ASKS_BEYOND
from service.ports.comments import NewComment
from service.ports.rings import PlacedRing
from tests.factories import NOW, SITE, make_comment, make_verdict
from tests.fakes import make_services, make_site
from tests.functional.moderators import signed_in
from tests.functional.test_campaign_pages import account, form_of, rulings, words

LIST = "/review/rings"


@pytest.fixture
def services():
    made = make_services()
    made.common.sites.add(make_site(id="site-2", name="Kettle blog"))
    return made


@pytest.fixture
def client(services):
    return signed_in(services)


def keep_ring(services, size, *, ties=("born", "target"), ring_id="ring_1", low=0, **changes):
    """Keep a ring of senders with one comment each, the first so many low; return the comments."""
    texts = changes.pop("texts", None)
    ids = []
    for number in range(size):
        comment = make_comment(
            texts[number] if texts else f"Comment number {number} of {size}",
            received_at=NOW - timedelta(days=1, minutes=number),
            **({"author": Author(name=f"Ann {number}")} | changes),
        )
        services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        told = {"p_spam": 0.05} if number < low else {}
        act = Act(comment_id=comment.id, who=f"{ring_id}-{number}", at=NOW, ties=(), sells=True)
        services.judging.verdicts.add(
            [make_verdict(comment.id, signals=(), promo_spans=(), **told)],
            audit=frozenset(),
            acts=[act],
        )
        ids.append(comment.id)
    who = frozenset(f"{ring_id}-{number}" for number in range(size))
    services.clusters.rings.place([PlacedRing(ring_id=ring_id, who=who, ties=ties)])
    return ids


def decide(client, ring_id="ring_1", ruling="reject", *, excepted=(), **fields):
    form = form_of(client.get(f"{LIST}/{ring_id}"))
    form["id"] = [one for one in form["id"] if one not in excepted]
    return client.post(f"{LIST}/{ring_id}/decision", data={**form, "ruling": ruling, **fields})


def test_rings_are_listed_with_how_many_they_are_and_what_ties_them(services, client):
    keep_ring(services, 4)

    page = client.get(LIST)

    assert "4 senders" in words(page)
    assert "links to the same rare place registered on the same day" in words(page)
    assert 'href="/review/rings/ring_1"' in page.text
    assert f'href="{LIST}"' in client.get("/review/campaigns").text
    assert 'href="/review/campaigns"' in page.text


def test_a_comments_page_leads_to_the_ring_that_it_is_in(services, client):
    inside, *_ = keep_ring(services, 3)
    alone = make_comment("Of no ring.")
    services.intake.comments.add([NewComment(comment=alone, lane=Lane.BULK)])

    pages = [client.get(f"/review/comments/{one}").text for one in (inside, alone.id)]

    assert ['href="/review/rings/ring_1">A ring</a>' in page for page in pages] == [True, False]
    assert 'href="/review/rings/ring_1"' in client.get(f"/review/ahead?id={inside}").text


def test_a_ring_shows_its_comments_and_every_tie_in_words(services, client):
    keep_ring(services, 3, ties=tuple(sorted(Tie)))

    page = client.get(f"{LIST}/ring_1")

    assert "Ring of 3 senders" in words(page)
    assert "Tied by" in words(page)
    assert page.text.count("<li>") == len(Tie)
    for number in range(3):
        assert f"Comment number {number} of 3" in words(page)


def test_a_ring_is_decided_with_exceptions_that_leave_and_undone(services, client):
    ids = keep_ring(services, 5)

    decide(client, excepted=ids[:1], leave="yes")
    page = client.get(f"{LIST}/ring_1")
    bulk_decision = re.search(r'action="(/review/strokes/[^"]+/undo)"', page.text)
    decided = rulings(services, ids)
    form = form_fields(page)
    client.post(bulk_decision[1], data=form)

    assert decided == [None, *[Ruling.REJECT] * 4]
    assert "4 comments rejected." in words(page)
    assert "Taken out 1 comment" in words(page)
    assert rulings(services, ids) == [None] * 5
    acts = [one.act for one in services.common.audit_log.recent(subject="ring_1")]
    assert acts == ["take out of ring"]

    client.post(f"{LIST}/ring_1/put-back", data=form)
    assert services.clusters.rings.get("ring_1", site_ids=None).members == 5


def form_fields(page):
    form = re.search(r'<form class="undo".*?</form>', page.text, re.DOTALL)[0]
    return dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form))


def test_low_ones_are_unticked_and_beyond_ten_one_is_asked(services, client):
    ids = keep_ring(services, 12, low=2)

    page = client.get(f"{LIST}/ring_1")
    form = form_of(page)

    assert set(form["shown"]) == set(ids)
    assert set(form["id"]) == set(ids[2:])
    assert f'data-asks-beyond="{BULK_DECISION_ASKS_BEYOND}"' in page.text


def test_comments_outside_the_ring_are_not_decided_with_it(services, client):
    ids = keep_ring(services, 3)
    other = keep_ring(services, 3, ring_id="ring_2")

    decide(client, id=[ids[0], other[0]])

    assert rulings(services, [ids[0], other[0]]) == [Ruling.REJECT, None]


def test_who_may_only_look_decides_nothing(services):
    ids = keep_ring(services, 3)
    client = account(services, "Vera", Role.READER)

    page = client.get(f"{LIST}/ring_1")
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)[1]
    answers = [
        client.post(
            f"{LIST}/ring_1/{what}",
            data={"csrf_token": token, "id": ids, "shown": ids, "ruling": "reject"},
        )
        for what in ("decision", "put-back")
    ]

    assert [answer.status_code for answer in answers] == [403, 403]
    assert rulings(services, ids) == [None] * 3


def test_other_sites_rings_are_not_there(services):
    keep_ring(services, 3, site_id="site-2")
    client = account(services, "Sam", Role.MODERATOR, site_ids=(SITE,))

    assert "No ring waits for you" in words(client.get(LIST))
    assert client.get(f"{LIST}/ring_1").status_code == 404
    assert client.get(f"{LIST}/none").status_code == 404
