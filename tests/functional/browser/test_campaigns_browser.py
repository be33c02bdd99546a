"""The pages of campaigns in a real browser: keys, exceptions, undo, fingers, hostile words."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from tests.functional.filled import keep_campaign


@pytest.fixture
def campaign(services):
    """A campaign of forty waiting comments; its id and theirs, the newest first."""
    campaign_id, ids = keep_campaign(services, 40)
    return campaign_id, ids[::-1]


def rulings(services, ids):
    decisions = [services.cases.get(one).decision for one in ids]
    return [one and one.ruling for one in decisions]


def test_forty_are_decided_with_two_exceptions_by_keyboard_alone_and_undone(
    services, campaign, open_page
):
    campaign_id, ids = campaign
    watched = open_page()
    page = watched.page
    page.goto("/review/campaigns")
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
    assert watched.complaints == []


def test_a_bulk_decision_over_more_than_ten_says_who_looks_sincere_and_waits_for_a_second_press(
    services, open_page
):
    campaign_id, ids = keep_campaign(services, 12, low=2)
    watched = open_page()
    page = watched.page
    page.goto(f"/review/campaigns/{campaign_id}")
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
    assert watched.complaints == []


def test_holding_the_key_is_the_second_press(services, campaign, open_page):
    campaign_id, ids = campaign
    page = open_page().page
    page.goto(f"/review/campaigns/{campaign_id}")

    page.keyboard.down("r")
    expect(page.locator(".asks")).to_be_visible()
    # A key held down sends itself again and again; the driver sends one for each call.
    page.keyboard.down("r")
    assert rulings(services, ids) == [None] * 40
    page.wait_for_timeout(900)
    page.keyboard.down("r")

    expect(page.locator(".told")).to_contain_text("40 comments rejected.")
