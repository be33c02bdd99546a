"""The callbacks page in a real browser: narrow and wide, with scripts switched off."""

from __future__ import annotations

from playwright.sync_api import expect

from service.domain.delivery import DeliveryState
from service.moderation.intake.withdraw import withdraw_comment
from tests.functional.filled import put_delivery
from tests.functional.moderators import keep


def test_messages_are_tried_again_without_scripts(services, open_page):
    # Hosts as long as hosts can be.
    url = f"https://{'.'.join(['w' * 60] * 4)}/"
    first, second = (put_delivery(services, url=url) for _ in range(2))
    watched = open_page(viewport={"width": 390, "height": 800}, java_script_enabled=False)
    page = watched.page

    page.get_by_text("More", exact=False).first.click()
    page.get_by_role("link", name="Callbacks").click()
    page.get_by_text("Log of attempts").first.click()
    width = page.evaluate("document.documentElement.scrollWidth")
    page.get_by_role("button", name=f"Try again message {first.id}").click()

    expect(page.get_by_role("status")).to_have_text("One message is tried again.")
    expect(page.locator(".message.is-dead")).to_have_count(1)
    states = [services.telling.deliveries.get(one.id).state for one in (first, second)]
    assert states == [DeliveryState.WAITING, DeliveryState.DEAD]
    assert width <= 390
    assert watched.complaints == []


def test_the_keys_pass_over_a_withdrawn_comment(services, open_page):
    withdrawn = keep(services)
    withdraw_comment(withdrawn.id, services, by="site")
    watched = open_page("/review?show=all")
    page = watched.page

    page.locator(".row").click()
    page.keyboard.press("a")

    expect(page.locator("#spoken")).to_have_text("Nothing to decide here")
    expect(page.locator('.row a[aria-current="true"]')).to_have_count(1)
    assert services.review.cases.get(withdrawn.id).decisions == ()
    assert watched.complaints == []
