"""The pages of campaigns in a real browser: keys, exceptions, undo, fingers, hostile words."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from service.domain.comment import Author, Post
from service.domain.decision import Ruling
from service.domain.verdict import Span
from tests.factories import NOW
from tests.functional.hostile import HOSTILE
from tests.functional.test_campaign_pages import keep_campaign, rulings


@pytest.fixture
def campaign(services):
    """A campaign of forty waiting comments; its id and theirs, the newest first."""
    campaign_id, ids = keep_campaign(services, 40)
    return campaign_id, ids[::-1]


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


def test_fingers_on_a_phone_untick_and_approve(services, campaign, open_page):
    campaign_id, ids = campaign
    watched = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = watched.page
    page.goto(f"/review/campaigns/{campaign_id}")

    page.locator(".member .tick").nth(1).tap()
    page.locator("button.approve").tap()
    expect(page.locator(".asks")).to_contain_text("Approve 39 comments?")
    page.locator("button.approve").tap()

    expect(page.locator(".told")).to_contain_text("39 comments approved.")
    assert rulings(services, ids)[:3] == [Ruling.APPROVE, None, Ruling.APPROVE]
    sizes = [box.bounding_box() for box in page.locator(".told button, .tabs a").all()]
    assert all(min(size["width"], size["height"]) >= 42 for size in sizes)
    assert watched.complaints == []


def test_keys_are_left_alone_while_one_writes_a_note(services, campaign, open_page):
    campaign_id, ids = campaign
    page = open_page().page
    page.goto(f"/review/campaigns/{campaign_id}")

    page.fill("#note", "")
    page.locator("#note").press_sequentially("rarxu")

    expect(page.locator("#note")).to_have_value("rarxu")
    assert rulings(services, ids) == [None] * 40


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


def test_ten_are_decided_by_one_press(services, open_page):
    campaign_id, ids = keep_campaign(services, 12, low=2)
    page = open_page().page
    page.goto(f"/review/campaigns/{campaign_id}")

    page.keyboard.press("r")

    expect(page.locator(".told")).to_contain_text("10 comments rejected.")
    assert rulings(services, ids) == [None, None] + [Ruling.REJECT] * 10


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


@pytest.mark.parametrize("width", [1280, 390])
def test_hostile_campaigns_run_nothing_and_stay_within_the_page(services, open_page, width):
    for number, text in enumerate(HOSTILE.values()):
        keep_campaign(
            services,
            3,
            text=text,
            target=f"site:{text[:120]}",
            author=Author(name=text[:300]),
            post=Post(title=text[:500], url=text[:2_048]),
            promo_spans=(Span(start=0, end=len(text)),),
            received_at=NOW - timedelta(hours=number),
        )
    watched = open_page(viewport={"width": width, "height": 844})
    page = watched.page

    page.goto("/review/campaigns")
    list_width = page.evaluate("document.documentElement.scrollWidth")
    page.locator(".campaign a.stop").first.click()
    expect(page.locator(".members")).to_be_visible()

    assert list_width <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []


@pytest.mark.parametrize("width", [1920, 1280, 390])
def test_the_strip_above_the_queue_is_read_line_by_line(services, open_page, width):
    long = "site:very-long-domain-name-of-cheap-boilers-and-kettles.example"
    for number, target in enumerate([long, "phone:025550126", "site:shop.example"]):
        received_at = NOW - timedelta(hours=number + 1)
        keep_campaign(services, 9 - number, target=target, received_at=received_at)
    page = open_page(viewport={"width": width, "height": 844}).page

    page.goto("/review")

    lines = [one.bounding_box() for one in page.locator(".campaign-strip li").all()]
    lines = [box for box in lines if box]
    assert len(lines) == (3 if width > 860 else 1)
    assert all(box["width"] >= 280 and box["height"] <= 66 for box in lines)
    assert len({box["x"] for box in lines}) == 1
