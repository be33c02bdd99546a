"""A screen is scanned by keys, commands are found by name, keys are changed: in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.scoring.scan_steps import count_checks
from tests.factories import make_comment
from tests.functional.browser.sent import wait_until_sent
from tests.functional.moderators import keep
from tests.functional.test_campaign_pages import rulings

SCREEN = "/review/scan/sincere"


@pytest.fixture
def sincere(services):
    """Thirty comments that look sincere, the most doubtful first."""
    return [
        keep(services, make_comment(f"Thank you, {n}."), p_spam=0.04 - n / 1000).id
        for n in range(30)
    ]


def test_a_screen_is_settled_by_arrows_space_and_one_key_pressed_twice_and_taken_back(
    services, sincere, open_page
):
    watched = open_page()
    page = watched.page
    page.goto(SCREEN)
    expect(page.locator(".stop").first).to_be_focused()

    for key in ("ArrowDown", "Space", "ArrowDown", "ArrowDown", "ArrowUp", "Space"):
        page.keyboard.press(key)
    expect(page.locator("button.approve")).to_contain_text("Approve the unticked (28)")
    page.keyboard.press("a")

    asks = page.locator(".asks")
    expect(asks).to_contain_text("Approve 28 comments? The ticked stay in the queue.")
    assert rulings(services, sincere) == [None] * 30
    page.keyboard.press("a")

    approved = 28 - count_checks(28)
    expect(page.locator(".told")).to_contain_text(f"{approved} comments approved.")
    assert rulings(services, sincere)[1:3] == [None, None]
    assert rulings(services, sincere).count(Ruling.APPROVE) == approved

    page.keyboard.press("u")
    expect(page.locator(".told")).to_contain_text("taken back")
    assert rulings(services, sincere) == [None] * 30
    assert watched.complaints == []


def test_each_box_is_named_by_whose_comment_it_is_and_described_by_its_words(
    services, sincere, open_page
):
    page = open_page().page
    page.goto(SCREEN)

    box = page.get_by_role("checkbox").first

    expect(box).to_have_accessible_name("Exception: the comment of Mara")
    expect(box).to_have_accessible_description("Thank you, 0.")


def test_commands_are_found_by_name_and_run_by_enter(services, open_page):
    comment = keep(services)
    watched = open_page()
    page = watched.page
    page.locator("html[data-ready]").wait_for(state="attached")

    page.keyboard.press("Control+k")
    asked = page.get_by_role("combobox", name="Command")
    expect(asked).to_be_focused()
    page.keyboard.type("approve site")
    options = page.get_by_role("listbox", name="Commands").get_by_role("option")
    expect(options).to_have_count(1)
    expect(asked).to_have_attribute("aria-activedescendant", "palette-0")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")

    expect(page.locator(".done")).to_contain_text("Approved.")
    wait_until_sent(page)
    assert rulings(services, [comment.id]) == [Ruling.APPROVE]

    page.keyboard.press("Control+k")
    page.keyboard.type("go to figures")
    page.keyboard.press("Enter")
    page.wait_for_url("**/figures")
    assert watched.complaints == []


def test_the_palette_filters_moves_in_a_ring_and_says_when_nothing_fits(services, open_page):
    page = open_page().page
    page.locator("html[data-ready]").wait_for(state="attached")
    page.keyboard.press("Control+k")
    options = page.locator("#palette-found li")
    n = options.count()
    assert n > 20
    expect(page.locator("#palette [role=status]")).to_have_text(f"Commands: {n}")

    page.keyboard.press("ArrowUp")
    expect(options.nth(n - 1)).to_have_attribute("aria-selected", "true")
    page.keyboard.type("qqq")
    expect(page.locator("#palette [role=status]")).to_have_text("No command has these letters.")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()

    page.keyboard.press("Control+k")
    page.keyboard.type("oldest")
    page.keyboard.press("Enter")
    page.wait_for_url("**/review?*sort=oldest*")


def test_a_key_is_changed_for_this_account_and_a_clash_is_told_once(services, sincere, open_page):
    watched = open_page()
    page = watched.page
    page.locator("html[data-ready]").wait_for(state="attached")
    page.keyboard.press("?")
    page.get_by_text("Change the keys").click()
    field = page.get_by_label("Approve", exact=True)

    field.fill("r")
    page.get_by_text("Keep these keys").click()
    problem = page.locator("#keys-problem")
    expect(problem).to_have_text(
        "R is asked for twice: “Approve” and “Reject”. Give one of them another key."
    )
    expect(field).to_be_focused()

    field.fill("f")
    page.get_by_text("Keep these keys").click()
    expect(problem).to_have_text("The keys are kept.")
    expect(page.locator("#opened button.approve kbd")).to_have_text("F")

    page.goto(SCREEN)
    expect(page.locator("button.approve kbd")).to_have_text("F")
    page.keyboard.press("f")
    expect(page.locator(".asks")).to_contain_text("Press F or the button again")

    page.goto("/review")
    page.locator("html[data-ready]").wait_for(state="attached")
    page.locator("body").press("a")
    page.locator("body").press("f")
    expect(page.locator(".done")).to_contain_text("Approved.")
    wait_until_sent(page)
    assert rulings(services, sincere).count(Ruling.APPROVE) == 1
    # The next comment's buttons say it, too.
    expect(page.locator("#opened button.approve kbd")).to_have_text("F")
    assert watched.complaints == []


def test_a_comment_is_snoozed_by_name_and_comes_back_by_one_button(services, open_page):
    comment = keep(services)
    page = open_page().page
    page.locator("html[data-ready]").wait_for(state="attached")

    page.keyboard.press("Control+k")
    page.keyboard.type("snooze it")
    page.keyboard.press("Enter")

    expect(page.locator(".done")).to_contain_text("Snoozed by Ola until")
    assert services.review.asides.find([comment.id], now=services.common.clock())
    page.locator(".done").get_by_text("Undo").click()
    expect(page.locator(f'.row[data-id="{comment.id}"]')).to_be_visible()
    assert not services.review.asides.find([comment.id], now=services.common.clock())
