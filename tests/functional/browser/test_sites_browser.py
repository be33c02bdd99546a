"""The page of a site in a real browser: what other cutoffs would do shows while they move."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment
from tests.factories import SITE, make_comment
from tests.functional.moderators import keep


@pytest.fixture
def judged(services):
    """Ten unsure comments between 5 % and 95 %, the likeliest approved."""
    comments = [
        keep(
            services,
            make_comment(received_at=services.clock()),
            Outcome.UNSURE,
            p_spam=0.05 + number / 10,
        )
        for number in range(10)
    ]
    decide_comment(comments[-1].id, Ruling.APPROVE, services, decided_by="Mara")
    return comments


def test_the_preview_follows_the_cutoffs_as_they_are_typed_and_slid(judged, open_page):
    watched = open_page()
    page = watched.page
    page.goto(f"/sites/{SITE}")
    held = page.locator("[data-say=held]")
    spam_row = page.locator("tr[data-outcome=spam] [data-cell=would_be]")

    page.get_by_label("Spam from, in percent").first.fill("50")
    expect(held).to_contain_text("would have held 4 comments")
    expect(spam_row).to_have_text("5")
    expect(page.locator("[data-say=mistakes] li")).to_have_text(
        "1 comment that moderators approved would be called spam."
    )
    slider = page.locator("input[type=range]").nth(1)
    slider.focus()
    page.keyboard.press("End")
    expect(spam_row).to_have_text("0")
    expect(page.locator("#spam_cutoff")).to_have_value("99.95")
    page.locator("#ham_cutoff").fill("nonsense")
    expect(held).to_contain_text("Give a percentage")

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # The refused preview is told in words; the browser notes its status as well.
    assert [one for one in watched.complaints if "400" not in one] == []
