"""Moderators see campaigns of their sites, decide them in one go with exceptions, and undo."""

from __future__ import annotations

import html
import re

import pytest

from service.domain.comment import Post
from service.domain.decision import Ruling
from service.domain.user import Role
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment
from service.web.pages.review.campaigns_page import MEMBERS_SHOWN
from tests.factories import NOW
from tests.fakes import make_services, make_site
from tests.functional.filled import join, keep_campaign, keep_single
from tests.functional.moderators import (
    add_moderator,
    make_app,
    sign_in,
    words,
)

LIST = "/review/campaigns"


@pytest.fixture
def services():
    made = make_services()
    made.common.sites.add(make_site(id="site-2", name="Kettle blog"))
    return made


def form_of(page):
    """Return what the form of a campaign's page would send as it stands."""
    form = re.search(r'<form class="decide".*?</form>', page.text, re.DOTALL)[0]
    fields = {
        name: html.unescape(value)
        for name, value in re.findall(
            r'<input type="hidden" name="(csrf_token|stroke|until)" value="([^"]*)">', form
        )
    }
    ticked = re.findall(r'type="checkbox" name="id" value="([^"]+)" checked', form)
    shown = re.findall(r'name="shown" value="([^"]+)"', form)
    return {**fields, "id": ticked, "shown": shown}


def decide(client, campaign_id, ruling="reject", *, excepted=(), path="", **fields):
    """Untick some of a page's comments and press a button."""
    form = form_of(client.get(f"{LIST}/{campaign_id}{path}"))
    form["id"] = [one for one in form["id"] if one not in excepted]
    return client.post(f"{LIST}/{campaign_id}/decision", data={**form, "ruling": ruling, **fields})


def rulings(services, ids):
    decisions = [services.review.cases.get(one).decision for one in ids]
    return [one.ruling if one else None for one in decisions]


def test_campaigns_are_listed_with_most_waiting_comments_first(services, client):
    few, _ = keep_campaign(services, 3)
    many, ids = keep_campaign(services, 6, target="site:kettles.example")
    settled, _ = keep_campaign(services, 9, outcome=Outcome.SPAM)
    decide_comment(ids[0], Ruling.REJECT, services, decided_by="Mara")

    page = client.get(f"{LIST}?show=all")
    waiting = client.get(LIST)

    assert re.findall(r'class="stop" href="/review/campaigns/(\w+)"', page.text) == [
        many,
        few,
        settled,
    ]
    assert settled not in waiting.text
    assert "kettles.example" in words(page)
    assert "5 wait 1 rejected Radiator blog · 1 post" in words(page)
    assert "Comment number 5 of 6" in words(page)


def test_a_campaign_is_rejected_but_for_its_exceptions(services, client):
    campaign_id, ids = keep_campaign(services, 40)

    answer = decide(client, campaign_id, excepted=ids[3:5], note="Boilers again")
    page = client.get(answer.location)

    assert answer.status_code == 303
    assert "38 comments rejected." in words(page)
    expected = [None if one in ids[3:5] else Ruling.REJECT for one in ids]
    assert rulings(services, ids) == expected
    case = services.review.cases.get(ids[0])
    assert (case.decision.decided_by, case.decision.note) == ("Ola", "Boilers again")
    assert services.clusters.campaigns.get(campaign_id, site_ids=None).waiting == 2


def test_exceptions_leave_if_the_moderator_says_so_and_can_be_put_back(services, client):
    campaign_id, ids = keep_campaign(services, 6)

    page = client.get(decide(client, campaign_id, excepted=ids[:2], leave="yes").location)
    left = [services.review.cases.get(one).campaign_id for one in ids]
    token = form_of(client.get(f"{LIST}/{campaign_id}?show=all")).get("csrf_token")
    back = client.post(f"{LIST}/{campaign_id}/put-back", data={"csrf_token": token})

    assert left == [None, None, *[campaign_id] * 4]
    assert "Taken out 2 comments" in words(page)
    assert "2 comments put back." in words(client.get(back.location))
    assert {services.review.cases.get(one).campaign_id for one in ids} == {campaign_id}
    acts = [entry.act for entry in services.common.audit_log.recent(subject=campaign_id)]
    assert acts == ["put back into campaign", "take out of campaign"]


def test_comments_beyond_the_page_are_named_and_taken_along_if_wished(services, client):
    campaign_id, ids = keep_campaign(services, MEMBERS_SHOWN + 7)

    page = client.get(f"{LIST}/{campaign_id}")
    decide(client, campaign_id, excepted=[ids[-1]], others="yes")

    assert "Also the other 7 waiting comments that are not on this page" in words(page)
    expected = [*[Ruling.REJECT] * (len(ids) - 1), None]
    assert rulings(services, ids) == expected


def test_what_came_after_the_page_was_made_is_not_taken_along(services, client):
    campaign_id, ids = keep_campaign(services, MEMBERS_SHOWN + 1)
    form = form_of(client.get(f"{LIST}/{campaign_id}"))
    late = keep_single(services, 3, received_at=NOW)
    join(services, [ids[0], *late])

    client.post(
        f"{LIST}/{campaign_id}/decision", data={**form, "ruling": "reject", "others": "yes"}
    )

    assert rulings(services, late) == [None] * 3
    assert None not in rulings(services, ids)


def test_what_a_colleague_decided_in_the_meantime_stands(services, client):
    campaign_id, ids = keep_campaign(services, 4)
    form = form_of(client.get(f"{LIST}/{campaign_id}"))
    decide_comment(ids[0], Ruling.APPROVE, services, decided_by="Mara")

    client.post(f"{LIST}/{campaign_id}/decision", data={**form, "ruling": "reject"})

    assert rulings(services, ids) == [Ruling.APPROVE, *[Ruling.REJECT] * 3]


def test_the_same_form_sent_twice_tells_what_it_did(services, client):
    campaign_id, _ = keep_campaign(services, 3)
    form = form_of(client.get(f"{LIST}/{campaign_id}")) | {"ruling": "reject"}

    answers = [client.post(f"{LIST}/{campaign_id}/decision", data=form) for _ in range(2)]

    assert [one.status_code for one in answers] == [303, 303]
    assert "3 comments rejected." in words(client.get(f"{LIST}/{campaign_id}"))


def account(services, name, role, site_ids=None):
    add_moderator(services, name)
    user = services.accounts.users.find(name)
    changed = type(user)(
        id=user.id,
        name=user.name,
        password_hash=user.password_hash,
        created_at=user.created_at,
        must_change_password=False,
        role=role,
        site_ids=site_ids,
    )
    services.accounts.users.replace(changed)
    client = make_app(services).test_client()
    assert sign_in(client, name).status_code == 303
    return client


def test_whoever_sees_one_site_sees_its_members_alone_and_decides_no_others(services):
    here, mine = keep_campaign(services, 4, site_id="site-2", text="Mine")
    theirs = keep_single(services, 5, text="Theirs", post=Post(title="Their post"))
    hidden, _ = keep_campaign(services, 3, text="Hidden")
    join(services, [mine[0], *theirs])
    client = account(services, "Kim", Role.MODERATOR, site_ids=("site-2",))

    listed = client.get(LIST)
    page = client.get(f"{LIST}/{here}")
    decide(client, here, id=[*mine, *theirs], others="yes")

    for seen in (listed, page):
        assert "Theirs" not in seen.text
        assert "Their post" not in seen.text
        assert "Radiator blog" not in seen.text
        assert "Hidden" not in seen.text
    assert "4 comments" in words(listed)
    assert rulings(services, mine) == [Ruling.REJECT] * 4
    assert rulings(services, theirs) == [None] * 5
    assert client.get(f"{LIST}/{hidden}").status_code == 404


def test_members_that_look_sincere_come_unticked_and_are_not_taken_along_unseen(services, client):
    campaign_id, ids = keep_campaign(services, MEMBERS_SHOWN + 8, low=5)

    page = client.get(f"{LIST}/{campaign_id}")
    told = decide(client, campaign_id, others="yes")

    # The five are the oldest, beyond the page; three others are there with them.
    assert "Also the other 3 waiting comments" in words(page)
    assert told.status_code == 303
    assert rulings(services, ids) == [None] * 5 + [Ruling.REJECT] * (MEMBERS_SHOWN + 3)
