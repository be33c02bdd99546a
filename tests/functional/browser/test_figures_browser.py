"""The page of figures in a real browser: on the phone, in both themes, with long and odd names."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.domain.decision import Decision, Ruling
from service.domain.verdict import Outcome
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_site
from tests.functional.browser.axe import broken_rules
from tests.functional.moderators import keep

LONG = "w" * 200 + " \u202e<b>gnp</b>"


@pytest.fixture
def busy(services):
    """Comments of two sites with every verdict, decided by people with names of all kinds."""
    services.common.sites.add(make_site(id="site-2", name=LONG))
    outcomes = (Outcome.HAM, Outcome.UNSURE, Outcome.SPAM)
    for number in range(90):
        at = NOW - timedelta(days=number % 29)
        comment = keep(
            services,
            make_comment(received_at=at, site_id=SITE if number % 2 else "site-2"),
            outcomes[number % 3],
            audit=number % 3 != 1,
            judged_at=at,
            model_version=LONG if number % 5 else "minilm-2",
        )
        services.review.decisions.add(
            Decision(
                id=f"d{number}",
                comment_id=comment.id,
                ruling=Ruling.REJECT if number % 3 == 2 or number % 7 == 0 else Ruling.APPROVE,
                decided_by=f"site: {LONG}" if number % 4 else "Ola",
                decided_at=at,
            )
        )


def test_nothing_scrolls_sideways_and_axe_finds_nothing(busy, open_page):
    watched = open_page(viewport={"width": 390, "height": 844})
    page = watched.page

    page.goto("/figures")
    for summary in page.locator("details.numbers > summary").all():
        summary.click()

    assert page.locator("svg[role=img]").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert broken_rules(page) == []
    assert watched.complaints == []
