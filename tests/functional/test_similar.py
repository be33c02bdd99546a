"""Beside a comment stands what others of its campaign became; above the queue, what waits."""

from __future__ import annotations

import pytest
from flask import render_template

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import Author
from service.domain.decision import Ruling
from service.moderation.review.decide import decide_comment
from service.web.pages.review.similar import campaign_strip_view, similar_view
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, make_app
from tests.functional.test_campaign_pages import keep_campaign


@pytest.fixture
def services():
    made = make_services()
    made.common.sites.add(make_site(id="site-2", name="Kettle blog"))
    return made


@pytest.fixture
def request_context(services):
    with make_app(services).test_request_context("/review"):
        yield


def similar(services, comment_id, site_ids=None):
    sites = {site.id: site for site in services.common.sites.all()}
    return similar_view(
        services.review.cases.get(comment_id), services.clusters, services.common, site_ids, sites
    )


@pytest.mark.usefixtures("request_context")
def test_a_comment_tells_of_the_others_and_how_they_were_decided(services):
    campaign_id, ids = keep_campaign(services, 8)
    decide_comment(ids[-1], Ruling.REJECT, services, decided_by="Mara")
    decide_comment(ids[-2], Ruling.REJECT, services, decided_by=CAMPAIGN_POLICY)

    view = similar(services, ids[-3])
    page = render_template("similar.html", similar=view)

    assert (view.members, view.waiting, view.rejected) == (8, 6, 2)
    assert view.url == f"/review/campaigns/{campaign_id}"
    assert [one.id for one in view.others] == [*ids[-1:-3:-1], *ids[-4:-7:-1]]
    assert "One of 8 in a campaign" in page
    assert page.count("Rejected</span>") == 2


@pytest.mark.usefixtures("request_context")
def test_a_single_comment_and_one_of_two_have_no_campaign_to_tell_of(services):
    _, ids = keep_campaign(services, 2)
    alone = keep(services)

    assert similar(services, ids[0]) is None
    assert similar(services, alone.id) is None
    assert render_template("similar.html", similar=None).strip() == ""


@pytest.mark.usefixtures("request_context")
def test_what_is_similar_at_other_sites_is_kept_quiet(services):
    _, ids = keep_campaign(services, 5, site_id="site-2")

    assert similar(services, ids[0], site_ids=("site-1",)) is None
    assert campaign_strip_view(services.clusters, ("site-1",)) == ()


@pytest.mark.usefixtures("request_context")
def test_the_three_campaigns_with_most_waiting_comments_stand_above_the_queue(services):
    made = [
        keep_campaign(services, size, target=f"site:s{size}.example")[0] for size in (3, 6, 4, 5)
    ]
    keep_campaign(services, 2)

    views = campaign_strip_view(services.clusters, None)
    page = render_template("campaign_strip.html", campaign_strip=views)

    assert [view.waiting for view in views] == [6, 5, 4]
    assert [view.url.rpartition("/")[2] for view in views] == [made[1], made[3], made[2]]
    assert "6 wait in one campaign" in page
    assert "s6.example" in page


@pytest.mark.usefixtures("request_context")
def test_what_strangers_wrote_is_dead_text_in_both(services):
    hostile = '"><script>alert(1)</script>\u202e'
    _, ids = keep_campaign(
        services, 4, text=hostile, target=f"handle:{hostile}", author=Author(name=hostile)
    )

    strip = campaign_strip_view(services.clusters, None)
    shown = render_template("similar.html", similar=similar(services, ids[0]))
    shown += render_template("campaign_strip.html", campaign_strip=strip)

    assert "<script" not in shown
    assert "\u202e" not in shown
    assert "⟦RLO⟧" in shown
