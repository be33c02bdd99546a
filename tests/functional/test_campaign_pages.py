"""Moderators see campaigns of their sites, decide them in one go with exceptions, and undo."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest

from service.campaigns.traits import Traits
from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import Author, Lane, Post
from service.domain.decision import Ruling
from service.domain.user import Role
from service.domain.verdict import Outcome, Span
from service.moderation.review.decide import decide_comment
from service.ports.campaigns import Placement
from service.ports.comments import NewComment
from service.web.pages.review.campaigns_page import CAMPAIGNS_SHOWN, MEMBERS_SHOWN
from tests.factories import NOW, make_comment, make_verdict
from tests.fakes import make_services, make_site
from tests.functional.hostile import HOSTILE
from tests.functional.moderators import (
    add_moderator,
    make_app,
    scripts_of,
    sign_in,
    signed_in,
)

LIST = "/review/campaigns"


@pytest.fixture
def services():
    made = make_services()
    made.common.sites.add(make_site(id="site-2", name="Kettle blog"))
    return made


@pytest.fixture
def client(services):
    return signed_in(services)


def keep_campaign(services, size, **changes):
    """Keep a campaign of so many comments, one a minute; return its id and theirs, oldest first."""
    ids = keep_single(services, size, **changes)
    return join(services, ids), ids


def keep_single(services, size, *, target="site:shop.example", text=None, **changes):
    """Keep so many comments that could be placed, one a minute; return their ids, oldest first."""
    outcome = changes.pop("outcome", Outcome.UNSURE)
    start = changes.pop("received_at", NOW - timedelta(days=1))
    spans = changes.pop("promo_spans", ())
    # The first so many look sincere.
    low = changes.pop("low", 0)
    ids = []
    for number in range(size):
        comment = make_comment(
            text or f"Comment number {number} of {size}",
            received_at=start + timedelta(minutes=number),
            **changes,
        )
        services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        traits = Traits(
            comment_id=comment.id,
            embedding=None,
            space="test-1",
            targets=frozenset([target]),
            copies=(),
        )
        told = {"p_spam": 0.05} if number < low else {}
        verdict = make_verdict(comment.id, outcome, promo_spans=spans, signals=(), **told)
        services.judging.verdicts.add([verdict], audit=frozenset(), traits=[traits])
        ids.append(comment.id)
    return ids


def join(services, ids):
    [founder, *others] = ids
    new = services.common.new_id("camp")
    places = [Placement(comment_id=founder, like=None, new_campaign_id=new)]
    places += [Placement(comment_id=one, like=founder, new_campaign_id=new) for one in others]
    joined = services.clusters.campaigns.place(places, at=NOW)
    return set(joined.values()).pop()


def words(page):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.text)).split())


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


def press_undo(client, campaign_id):
    """Press the undo button that a campaign's page shows right after a bulk decision."""
    page = client.get(f"{LIST}/{campaign_id}")
    action, rest = re.search(
        r'<form class="undo" method="post" action="([^"]+)">(.*?)</form>', page.text
    ).groups()
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', rest))
    return client.post(action, data=fields)


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


def test_two_alike_are_not_listed(services, client):
    small, _ = keep_campaign(services, 2)

    assert small not in client.get(f"{LIST}?show=all").text
    assert "No campaigns" in words(client.get(f"{LIST}?show=all"))
    assert "No campaign waits for you" in words(client.get(LIST))


def test_the_list_goes_on_over_pages(services, client):
    made = {keep_campaign(services, 3)[0] for _ in range(CAMPAIGNS_SHOWN + 2)}

    first = client.get(LIST)
    further = re.search(r'class="button quiet further" href="([^"]+)"', first.text)[1]
    second = client.get(html.unescape(further))

    listed = re.findall(r'class="stop" href="/review/campaigns/(\w+)"', first.text + second.text)
    assert len(listed) == len(made)
    assert set(listed) == made


@pytest.mark.parametrize("query", ["?cursor=nonsense", "?cursor=%00", "?show=%ff&cursor=e30"])
def test_nonsense_in_the_address_shows_the_first_page(services, client, query):
    campaign_id, ids = keep_campaign(services, 3)

    assert campaign_id in client.get(LIST + query).text
    assert ids[0] in client.get(f"{LIST}/{campaign_id}{query}").text


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


def test_the_whole_bulk_decision_is_undone_at_once(services, client):
    campaign_id, ids = keep_campaign(services, 12)
    decide(client, campaign_id, "approve", excepted=ids[:2])

    answer = press_undo(client, campaign_id)

    assert "10 decisions undone." in words(client.get(answer.location))
    assert rulings(services, ids) == [None] * 12


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


def test_without_saying_so_exceptions_stay_members(services, client):
    campaign_id, ids = keep_campaign(services, 6)

    decide(client, campaign_id, excepted=ids[:2])

    assert {services.review.cases.get(one).campaign_id for one in ids} == {campaign_id}


def test_comments_beyond_the_page_are_named_and_taken_along_if_wished(services, client):
    campaign_id, ids = keep_campaign(services, MEMBERS_SHOWN + 7)

    page = client.get(f"{LIST}/{campaign_id}")
    decide(client, campaign_id, excepted=[ids[-1]], others="yes")

    assert "Also the other 7 waiting comments that are not on this page" in words(page)
    expected = [*[Ruling.REJECT] * (len(ids) - 1), None]
    assert rulings(services, ids) == expected


def test_comments_beyond_the_page_are_left_alone_otherwise(services, client):
    campaign_id, ids = keep_campaign(services, MEMBERS_SHOWN + 7)

    decide(client, campaign_id)

    assert rulings(services, ids)[:7] == [None] * 7
    assert None not in rulings(services, ids)[7:]


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


def test_if_all_was_decided_meanwhile_one_is_told(services, client):
    campaign_id, ids = keep_campaign(services, 3)
    form = form_of(client.get(f"{LIST}/{campaign_id}"))
    for one in ids:
        decide_comment(one, Ruling.APPROVE, services, decided_by="Mara")

    answer = client.post(f"{LIST}/{campaign_id}/decision", data={**form, "ruling": "reject"})

    assert answer.status_code == 409
    assert "Somebody else has decided" in words(answer)
    assert rulings(services, ids) == [Ruling.APPROVE] * 3


def test_sending_the_form_twice_decides_once(services, client):
    campaign_id, ids = keep_campaign(services, 5)
    form = form_of(client.get(f"{LIST}/{campaign_id}")) | {"ruling": "reject"}

    client.post(f"{LIST}/{campaign_id}/decision", data=form)
    client.post(f"{LIST}/{campaign_id}/decision", data=form)

    assert [len(services.review.cases.get(one).decisions) for one in ids] == [1] * 5


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"id": []}, "Tick at least one comment."),
        ({"ruling": "perhaps"}, "Choose to approve or to reject."),
        ({"note": "n" * 501}, "A note has at most 500 characters."),
    ],
)
def test_a_form_that_decides_nothing_says_why(services, client, changes, told):
    campaign_id, ids = keep_campaign(services, 3)
    form = form_of(client.get(f"{LIST}/{campaign_id}"))

    answer = client.post(
        f"{LIST}/{campaign_id}/decision", data={**form, "ruling": "reject", **changes}
    )

    assert answer.status_code == 400
    assert told in words(answer)
    assert rulings(services, ids) == [None] * 3


def test_the_same_form_sent_twice_tells_what_it_did(services, client):
    campaign_id, _ = keep_campaign(services, 3)
    form = form_of(client.get(f"{LIST}/{campaign_id}")) | {"ruling": "reject"}

    answers = [client.post(f"{LIST}/{campaign_id}/decision", data=form) for _ in range(2)]

    assert [one.status_code for one in answers] == [303, 303]
    assert "3 comments rejected." in words(client.get(f"{LIST}/{campaign_id}"))


@pytest.mark.parametrize(
    "until",
    ["", "soon", "2026-01-01", "2026-01-01T00:00:00", "9999-12-31T23:59:59-14:00"],
)
def test_a_forged_moment_is_refused(services, client, until):
    campaign_id, ids = keep_campaign(services, 3)

    answer = decide(client, campaign_id, others="yes", until=until)

    assert answer.status_code == 400
    assert rulings(services, ids) == [None] * 3


def test_forged_ids_of_other_comments_are_left_alone(services, client):
    campaign_id, ids = keep_campaign(services, 3)
    _, foreign = keep_campaign(services, 3)

    decide(client, campaign_id, id=[ids[0], foreign[0], "no-such", "../x"])

    assert rulings(services, [ids[0], foreign[0]]) == [Ruling.REJECT, None]


def test_settled_members_can_be_ticked_but_are_not_by_default(services, client):
    campaign_id, ids = keep_campaign(services, 4, outcome=Outcome.SPAM)

    page = client.get(f"{LIST}/{campaign_id}")
    form = form_of(page)
    decide(client, campaign_id, "approve", id=ids)

    assert form["id"] == []
    assert len(form["shown"]) == 4
    assert rulings(services, ids) == [Ruling.APPROVE] * 4


def test_decided_members_are_shown_with_who_decided_and_cannot_be_ticked(services, client):
    campaign_id, ids = keep_campaign(services, 3)
    decide_comment(ids[0], Ruling.REJECT, services, decided_by=CAMPAIGN_POLICY)

    page = client.get(f"{LIST}/{campaign_id}?show=all")

    assert ids[0] not in form_of(page)["shown"]
    assert f"Rejected {CAMPAIGN_POLICY}" in words(page)


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


def test_a_reader_looks_and_decides_nothing(services):
    campaign_id, ids = keep_campaign(services, 3)
    client = account(services, "Rea", Role.READER)

    page = client.get(f"{LIST}/{campaign_id}")
    token = re.search(r'name="csrf_token" value="([^"]+)"', page.text)[1]
    forms = {"csrf_token": token, "id": ids, "ruling": "reject"}
    answers = [
        client.post(f"{LIST}/{campaign_id}/decision", data=forms),
        client.post(f"{LIST}/{campaign_id}/put-back", data=forms),
    ]

    assert page.status_code == 200
    assert 'type="checkbox"' not in page.text
    assert [one.status_code for one in answers] == [403, 403]
    assert rulings(services, ids) == [None] * 3


@pytest.mark.parametrize("path", ["no-such", "x" * 65, "%00", "camp_1%2F..", "\u2028"])
def test_a_campaign_that_is_none_is_not_found(client, path):
    assert client.get(f"{LIST}/{path}").status_code == 404


def test_a_form_without_its_token_changes_nothing(services, client):
    campaign_id, ids = keep_campaign(services, 3)

    answer = client.post(f"{LIST}/{campaign_id}/decision", data={"id": ids, "ruling": "reject"})

    assert answer.status_code == 403
    assert rulings(services, ids) == [None] * 3


def test_the_promotion_is_marked_even_where_it_comes_late(services, client):
    text = "A long remark about radiators. " * 40 + "Buy boilers now! " + "And so on. " * 40
    start = text.index("Buy")
    campaign_id, _ = keep_campaign(
        services, 3, text=text, promo_spans=(Span(start=start, end=start + 16),)
    )

    page = client.get(f"{LIST}/{campaign_id}")

    marks = re.findall(r"<mark [^>]*>([^<]*)</mark>", page.text)
    assert set(marks) == {"Buy boilers now!"}
    assert "<sup" not in page.text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_whatever_strangers_write_stays_dead_text(services, client, text):
    campaign_id, _ = keep_campaign(
        services,
        3,
        text=text,
        target=f"site:{text[:120]}",
        author=Author(name=text[:300]),
        post=Post(title=text[:500], url=text[:2_048]),
        promo_spans=(Span(start=0, end=len(text)),),
    )

    for page in (client.get(LIST), client.get(f"{LIST}/{campaign_id}")):
        assert page.status_code == 200
        assert len(page.data) < 100_000
        tags = re.findall(r"<([a-zA-Z!/][^>]*)>", page.text)
        assert not [tag for tag in tags if re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:", tag)]
        links = re.findall(r'\s(?:href|src|action)="([^"]*)"', page.text)
        # The page's own, on this server.
        assert all(re.match(r"/(?!/)|#", link) for link in links)
        assert scripts_of(page.text) == ["campaign.js"]
        assert "\u202e" not in page.text
        assert "\x00" not in page.text


def test_the_page_needs_its_moderator(services):
    campaign_id, _ = keep_campaign(services, 3)
    stranger = make_app(services).test_client()

    assert stranger.get(LIST).status_code == 303
    assert stranger.get(f"{LIST}/{campaign_id}").status_code == 303


def test_members_that_look_sincere_come_unticked_and_are_not_taken_along_unseen(services, client):
    campaign_id, ids = keep_campaign(services, MEMBERS_SHOWN + 8, low=5)

    page = client.get(f"{LIST}/{campaign_id}")
    told = decide(client, campaign_id, others="yes")

    # The five are the oldest, beyond the page; three others are there with them.
    assert "Also the other 3 waiting comments" in words(page)
    assert told.status_code == 303
    assert rulings(services, ids) == [None] * 5 + [Ruling.REJECT] * (MEMBERS_SHOWN + 3)


def test_a_member_below_one_in_five_is_shown_unticked_and_can_be_ticked(services, client):
    campaign_id, ids = keep_campaign(services, 4, low=1)

    page = client.get(f"{LIST}/{campaign_id}")
    [low] = re.findall(rf'<input[^>]*value="{ids[0]}"[^>]*data-low[^>]*>', page.text)
    others = re.findall(r'<input class="stop"[^>]* checked>', page.text)

    assert "checked" not in low
    assert len(others) == 3
    assert "Comments below 20% are not ticked." in words(page)
