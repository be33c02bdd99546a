"""Moderators see campaigns of their sites, decide them in one go with exceptions, and undo."""

from __future__ import annotations

import html
import re

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import Post
from service.domain.decision import Ruling
from service.moderation.decisions import decide_comment
from service.web.pages.campaigns import MEMBERS_SHOWN
from tests.factories import NOW
from tests.fakes import make_site
from tests.functional.filled import join, keep_campaign, keep_single
from tests.functional.moderators import restrict, signed_in, words

LIST = "/review/campaigns"


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
    decisions = [services.cases.get(one).decision for one in ids]
    return [one.ruling if one else None for one in decisions]


def test_a_campaign_is_rejected_but_for_its_exceptions(services, client):
    campaign_id, ids = keep_campaign(services, 40)

    answer = decide(client, campaign_id, excepted=ids[3:5], note="Boilers again")
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

    page = client.get(decide(client, campaign_id, excepted=ids[:2], leave="yes").location)
    left = [services.cases.get(one).campaign_id for one in ids]
    token = form_of(client.get(f"{LIST}/{campaign_id}?show=all")).get("csrf_token")
    back = client.post(f"{LIST}/{campaign_id}/put-back", data={"csrf_token": token})

    assert left == [None, None, *[campaign_id] * 4]
    assert "Taken out 2 comments" in words(page)
    assert "2 comments put back." in words(client.get(back.location))
    assert {services.cases.get(one).campaign_id for one in ids} == {campaign_id}
    acts = [entry.act for entry in services.audit_log.recent(subject=campaign_id)]
    assert acts == ["put back into campaign", "take out of campaign"]


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


def test_what_a_colleague_decided_stands_and_a_form_sent_twice_tells_what_it_did(services, client):
    campaign_id, ids = keep_campaign(services, 4)
    form = form_of(client.get(f"{LIST}/{campaign_id}")) | {"ruling": "reject"}
    decide_comment(ids[0], Ruling.APPROVE, services, decided_by="Mara")

    answers = [client.post(f"{LIST}/{campaign_id}/decision", data=form) for _ in range(2)]

    assert [one.status_code for one in answers] == [303, 303]
    assert "3 comments rejected." in words(client.get(f"{LIST}/{campaign_id}"))
    assert rulings(services, ids) == [Ruling.APPROVE, *[Ruling.REJECT] * 3]


def test_whoever_sees_one_site_sees_its_members_alone_and_decides_no_others(services):
    services.sites.add(make_site(id="site-2", name="Kettle blog"))
    here, mine = keep_campaign(services, 4, site_id="site-2", text="Mine")
    theirs = keep_single(services, 5, text="Theirs", post=Post(title="Their post"))
    hidden, _ = keep_campaign(services, 3, text="Hidden")
    join(services, [mine[0], *theirs])
    client = signed_in(services, "Kim")
    restrict(services, "Kim", site_ids=("site-2",))

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
