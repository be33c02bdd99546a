"""Moderators see how the last days went, of the sites they see; programs get the same as JSON."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.comment import SiteId
from service.domain.user import Role
from tests.databases import fresh_stores
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, restrict, signed_in

HOSTILE = "<script>alert(1)</script>\"' \u202egnp.exe {{ 7*7 }}"
OTHER = SiteId("site-2")


@pytest.fixture
def services():
    """Two sites, one of a hostile name."""
    return make_services(
        stores=fresh_stores(sites=[make_site(), make_site(id=OTHER, name=HOSTILE)])
    )


def test_the_json_has_the_figures_of_ones_own_sites_for_as_many_days_as_asked(services):
    keep(services, make_comment(site_id=OTHER))
    keep(services, make_comment(received_at=NOW - timedelta(days=40)))
    client = signed_in(services)
    restrict(services, role=Role.READER, site_ids=(SITE,))

    month = client.get("/figures.json").get_json()
    quarter = client.get("/figures.json?days=90").get_json()

    assert (len(month["days"]), month["total"]["unsure"]) == (30, 0)
    assert (len(quarter["days"]), quarter["total"]["unsure"]) == (90, 1)
    assert quarter["queue"]["waiting"] == 1
    assert client.get(f"/figures?site={OTHER}").status_code == 404
