"""Campaigns, a site's cutoffs and the API's documentation in a real browser."""

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.moderation.decisions import decide_comment
from service.moderation.sites import issue_key
from tests.factories import SITE
from tests.functional.browser.conftest import Watched
from tests.functional.filled import keep_campaign
from tests.functional.moderators import keep, rulings


@pytest.fixture
def campaign(services):
    """A campaign of forty waiting comments; its id and theirs, the newest first."""
    campaign_id, ids = keep_campaign(services, 40)
    return campaign_id, ids[::-1]


def test_forty_are_decided_with_two_exceptions_by_keyboard_alone_and_undone(
    services, campaign, quiet_page
):
    campaign_id, ids = campaign
    page = quiet_page("/review/campaigns")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/review/campaigns/{campaign_id}")

    for key in "jjjxjjx":
        page.keyboard.press(key)
    expect(page.locator("button.reject")).to_contain_text("Reject the ticked (38)")
    page.keyboard.press("r")
    page.keyboard.press("r")

    expect(page.locator(".told")).to_contain_text("38 comments rejected.")
    expected = [None if place in (2, 4) else Ruling.REJECT for place in range(40)]
    assert rulings(services, ids) == expected

    page.keyboard.press("u")

    expect(page.locator(".told")).to_contain_text("38 decisions undone.")
    assert rulings(services, ids) == [None] * 40


def test_a_bulk_decision_over_more_than_ten_says_who_looks_sincere_and_waits_for_a_second_press(
    services, quiet_page
):
    campaign_id, ids = keep_campaign(services, 12, low=2)
    page = quiet_page(f"/review/campaigns/{campaign_id}")
    page.locator(f'input.stop[value="{ids[0]}"]').check()

    page.keyboard.press("r")

    asks = page.locator(".asks")
    expect(asks).to_contain_text("Reject 11 comments? Below 20%: 1 of them.")
    assert rulings(services, ids) == [None] * 12

    page.keyboard.press("Escape")
    expect(asks).to_be_hidden()
    page.keyboard.press("a")
    expect(asks).to_contain_text("Approve 11 comments?")
    page.keyboard.press("r")
    expect(asks).to_contain_text("Reject 11 comments?")
    assert rulings(services, ids) == [None] * 12

    page.keyboard.press("r")
    expect(page.locator(".told")).to_contain_text("11 comments rejected.")
    assert rulings(services, ids) == [Ruling.REJECT, None] + [Ruling.REJECT] * 10


def test_the_preview_follows_the_cutoffs_as_they_are_typed_and_slid(services, open_page):
    for number in range(10):
        likeliest = keep(services, p_spam=0.05 + number / 10)
    decide_comment(likeliest.id, Ruling.APPROVE, services, decided_by="Mara")
    watched = open_page(f"/sites/{SITE}")
    page = watched.page
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


def test_a_call_is_tried_with_ones_own_key_under_a_strict_policy(browser, services, address):
    key = issue_key(SITE, services, actor="Ola").secret
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    watched = Watched(context.new_page())
    page = watched.page
    page.goto("/docs")
    page.locator("html[data-ready]").wait_for()
    sent = []
    page.on("request", lambda request: sent.append(request))
    page.locator(".auth-wrapper .authorize").first.click()
    page.locator(".auth-container input").fill(key)
    page.locator(".auth-btn-wrapper .authorize").click()
    page.locator(".btn-done").click()

    page.locator("#operations-Comments-submit_comment .opblock-summary-control").click()
    page.locator("#operations-Comments-submit_comment .execute").click()

    status = page.locator(
        "#operations-Comments-submit_comment .live-responses-table .response-col_status"
    )
    status.last.wait_for()
    made = next(one for one in sent if one.url.endswith("/v1/comments"))
    assert status.last.inner_text().startswith(("200", "201", "202"))
    assert "cookie" not in made.all_headers()
    assert made.all_headers()["authorization"] == f"Bearer {key}"
    kept = page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    )
    assert key not in kept
    assert watched.complaints == []
    context.close()
