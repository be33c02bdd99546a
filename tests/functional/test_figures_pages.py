"""Moderators see how the last days went, of the sites they see; programs get the same as JSON."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.user import Role
from service.domain.verdict import Outcome
from tests.databases import fresh_stores
from tests.factories import NOW, SITE, make_comment, make_decision
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, restrict, signed_in, words

HOSTILE = "<script>alert(1)</script>\"' \u202egnp.exe {{ 7*7 }}"
OTHER = SiteId("site-2")


@pytest.fixture
def services():
    """Two sites, one of a hostile name."""
    return make_services(
        stores=fresh_stores(sites=[make_site(), make_site(id=OTHER, name=HOSTILE)])
    )


def audit_spam(services, n, *, ham=0):
    for number in range(n):
        comment = keep(services, outcome=Outcome.SPAM, audit=True)
        ruling = Ruling.APPROVE if number < ham else Ruling.REJECT
        services.decisions.add(make_decision(f"dec_{number}", comment.id, ruling))


def test_the_page_says_what_people_were_spared_and_what_share_of_ham_was_lost(services):
    audit_spam(services, 40, ham=1)
    for _ in range(60):
        keep(services, outcome=Outcome.HAM)
    keep(services, outcome=Outcome.UNSURE)

    page = words(signed_in(services).get("/figures"))

    assert "99.0 % of 101 judged comments were settled without a person." in page
    assert "Left to people 1.0 % (0.2 % to 5.4 %)" in page
    # 1 of 40 audited spam verdicts was ham: 2.5 % of 40, beside 60 ham verdicts.
    assert "(estimate) 1.6 % (0.3 % to 7.9 %)" in page
    assert "Of 40 audited spam verdicts, sincere 1" in page


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
