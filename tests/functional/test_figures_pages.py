"""Moderators see how the last days went, of the sites they see; programs get the same as JSON."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from service.campaigns.traits import Traits
from service.domain.comment import Lane, SiteId
from service.domain.decision import Decision, Ruling
from service.domain.user import Role
from service.domain.verdict import Outcome
from service.ports.campaigns import Placement
from service.ports.comments import NewComment
from tests.databases import fresh_stores
from tests.factories import NOW, SITE, make_comment, make_verdict
from tests.fakes import make_services, make_site
from tests.functional.moderators import keep, signed_in

HOSTILE = "<script>alert(1)</script>\"' \u202egnp.exe {{ 7*7 }}"
OTHER = SiteId("site-2")


@pytest.fixture
def services():
    """Two sites, one of a hostile name."""
    return make_services(
        stores=fresh_stores(sites=[make_site(), make_site(id=OTHER, name=HOSTILE)])
    )


def rule(services, comment, ruling=Ruling.REJECT, *, by="Ola"):
    services.review.decisions.add(
        Decision(
            id=services.common.new_id("dec"),
            comment_id=comment.id,
            ruling=ruling,
            decided_by=by,
            decided_at=NOW,
        )
    )


def audit_spam(services, n, *, ham=0):
    for number in range(n):
        comment = keep(services, outcome=Outcome.SPAM, audit=True)
        rule(services, comment, Ruling.APPROVE if number < ham else Ruling.REJECT)


def words(page) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page.text).split())


def test_without_any_comment_the_page_says_so(services):
    page = signed_in(services).get("/figures")

    assert page.status_code == 200
    assert "No comment was judged in these days." in words(page)
    assert 'aria-current="page"' in page.text


def test_the_top_says_what_was_settled_and_what_share_of_the_sincere_was_harmed(services):
    audit_spam(services, 40, ham=1)
    for _ in range(60):
        keep(services, outcome=Outcome.HAM)
    for _ in range(20):
        rule(services, keep(services, outcome=Outcome.HAM, audit=True), Ruling.APPROVE)

    page = words(signed_in(services).get("/figures"))

    assert "50.0 % of 120 judged comments were settled without a person." in page
    assert "Of all sincere comments an estimated 1.2 % were called spam (0.2 % to 8.7 %)." in page
    assert "Of 40 audited spam verdicts 1 was ham: 2.5 % (0.4 % to 12.9 %)." in page


def test_too_few_audited_ones_are_told_as_that_and_not_as_a_share(services):
    audit_spam(services, 19)
    keep(services, outcome=Outcome.SPAM)

    page = words(signed_in(services).get("/figures"))

    assert "Of 19 audited spam verdicts 0 were ham: too few to tell a share." in page
    assert "cannot be told yet" in page


def test_hostile_names_of_sites_and_moderators_stay_words(services):
    rule(services, keep(services, make_comment(site_id=OTHER)), by=f"site: {HOSTILE}")
    rule(services, keep(services), by="Ola")

    page = signed_in(services).get("/figures")

    assert "<script>" not in page.text
    # Within an <option> no mark can be put around it; the list of sites is the only such place.
    assert "\u202e" not in re.sub(r"<option.*?</option>", "", page.text, flags=re.DOTALL)
    assert "⟦RLO⟧" in page.text
    assert "49" not in words(page).split("Decisions", 1)[1].split("Moderator", 1)[0]


def test_an_account_sees_nothing_of_other_sites(services):
    keep(services, make_comment(site_id=OTHER))
    rule(services, keep(services, make_comment(site_id=OTHER)), by="somebody elsewhere")
    client = signed_in(services)
    user = services.accounts.users.find("Ola")
    services.accounts.users.replace(replace(user, role=Role.READER, site_ids=(SITE,)))

    page, figures = client.get("/figures"), client.get("/figures.json").get_json()

    assert "somebody elsewhere" not in page.text
    assert "site-2" not in page.text
    assert figures["total"]["unsure"] == 0
    assert client.get("/figures?site=site-2").status_code == 404
    assert client.get("/figures.json?site=site-2").status_code == 404
    assert client.get("/figures?site=../x").status_code == 404


def test_one_site_and_a_number_of_days_can_be_chosen(services):
    keep(services, make_comment(site_id=OTHER))
    keep(services, make_comment(received_at=NOW - timedelta(days=20)))
    keep(services, make_comment(received_at=NOW))
    client = signed_in(services)

    def unsure(query: str) -> int:
        return client.get(f"/figures.json?{query}").get_json()["total"]["unsure"]

    assert unsure("") == 3
    assert unsure("days=7") == 2
    assert unsure("days=7&site=site-1") == 1
    assert unsure("days=nonsense&site=site-1") == 2
    assert "selected" in client.get("/figures?days=90&site=site-1").text.split("90 days")[0]


def test_figures_are_counted_anew_after_a_minute(services):
    client = signed_in(services)

    def judged() -> int:
        return client.get("/figures.json?days=7").get_json()["total"]["unsure"]

    before = judged()
    keep(services)
    at_once = judged()
    services.common.clock.advance(seconds=61)

    assert (before, at_once, judged()) == (0, 0, 1)


def test_nothing_on_the_page_is_styled_or_run_inline(services):
    audit_spam(services, 30)

    page = signed_in(services).get("/figures").text

    assert " style=" not in page
    assert "<style" not in page
    assert not re.search(r"\son[a-z]+=", page)
    assert "<script>" not in page


def test_a_site_reads_its_own_figures_with_its_key(api, services):
    audit_spam(services, 3)
    rule(services, keep(services), by="Ola")

    answer = api.get("/v1/site/figures?days=7").get_json()

    assert answer["total"]["spam"] == 3
    assert [site["site_id"] for site in answer["sites"]] == [SITE]
    assert len(answer["days"]) == 7
    assert answer["mistakes"]["called_spam"]["wrong"] == {
        "count": 0, "n": 3, "share": 0.0, "low": 0.0, "high": pytest.approx(0.5615, abs=1e-3),
    }  # fmt: skip


def test_a_wrong_number_of_days_is_refused_by_name(api):
    answer = api.get("/v1/site/figures?days=91&hours=2")

    assert answer.status_code == 422
    assert [error["field"] for error in answer.get_json()["errors"]] == ["days", "hours"]


def test_a_campaign_is_named_by_what_it_advertises_and_leads_to_its_page(services):
    ids = []
    for _ in range(3):
        comment = make_comment()
        services.intake.comments.add([NewComment(comment=comment, lane=Lane.BULK)])
        traits = Traits(
            comment_id=comment.id,
            embedding=None,
            space="test-1",
            targets=frozenset({"site:<b>shop</b>.example"}),
            copies=(),
        )
        services.judging.verdicts.add(
            [make_verdict(comment.id)], audit=frozenset(), traits=[traits]
        )
        ids.append(comment.id)
    services.clusters.campaigns.place(
        [
            Placement(comment_id=one, like=like, new_campaign_id="camp_1")
            for one, like in zip(ids, (None, ids[0], ids[0]), strict=True)
        ],
        at=NOW,
    )

    page = signed_in(services).get("/figures")

    assert 'href="/review/campaigns/camp_1"' in page.text
    assert "&lt;b&gt;shop&lt;/b&gt;.example" in page.text
