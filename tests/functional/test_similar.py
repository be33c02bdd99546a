"""Beside a comment stands what others of its campaign became; above the queue, what waits."""

from __future__ import annotations

import pytest
from flask import render_template

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.decision import Ruling
from service.moderation.review.decide import decide_comment
from service.web.pages.review.similar import similar_view
from tests.fakes import make_services, make_site
from tests.functional.moderators import make_app
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
