"""The callbacks page in a real browser: narrow and wide, with scripts switched off."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from service.domain.delivery import (
    Delivery,
    DeliveryAttempt,
    DeliveryForm,
    DeliveryState,
    EventKind,
)
from service.moderation.intake.withdraw import withdraw_comment
from tests.factories import NOW, SITE
from tests.functional.moderators import keep


@pytest.fixture
def given_up(services):
    """Two messages that were given up, to a host as long as hosts can be."""
    host = ".".join(["w" * 60] * 4)
    made = [
        Delivery(
            id=services.common.new_id("msg"),
            seq=0,
            site_id=SITE,
            comment_id=keep(services).id,
            event=EventKind.VERDICT,
            form=DeliveryForm.AKISMET,
            url=f"https://{host}/",
            payload="{}",
            created_at=NOW - timedelta(days=1),
        )
        for _ in range(2)
    ]
    services.telling.deliveries.add(made)
    for one in made:
        attempt = DeliveryAttempt(
            delivery_id=one.id, at=NOW, milliseconds=15_000, status=None, problem="no answer"
        )
        services.telling.deliveries.record(attempt, state=DeliveryState.DEAD)
    return made


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_messages_are_tried_again_without_scripts(services, given_up, open_page, width, scheme):
    viewport = {"width": width, "height": 800}
    watched = open_page(viewport=viewport, java_script_enabled=False, color_scheme=scheme)
    page = watched.page

    page.get_by_text("More", exact=False).first.click()
    page.get_by_role("link", name="Callbacks").click()
    page.get_by_text("Log of attempts").first.click()
    expect(page.locator(".log li").first).to_contain_text("no answer")
    page.get_by_role("button", name=f"Try again message {given_up[0].id}").click()

    expect(page.get_by_role("status")).to_have_text("One message is tried again.")
    expect(page.locator(".message.is-dead")).to_have_count(1)
    assert services.telling.deliveries.get(given_up[0].id).state is DeliveryState.WAITING
    assert services.telling.deliveries.get(given_up[1].id).state is DeliveryState.DEAD
    assert watched.complaints == []


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_scrolls_sideways(given_up, open_page, width):
    watched = open_page(viewport={"width": width, "height": 800})
    page = watched.page

    page.goto("/callbacks")
    page.get_by_text("Log of attempts").first.click()

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []


def test_the_keys_pass_over_a_withdrawn_comment(services, open_page):
    withdrawn = keep(services)
    withdraw_comment(withdrawn.id, services, by="site")
    watched = open_page()
    page = watched.page

    page.goto("/review?show=all")
    page.locator(".row").click()
    page.keyboard.press("a")

    expect(page.locator("#spoken")).to_have_text("Nothing to decide here")
    expect(page.locator('.row a[aria-current="true"]')).to_have_count(1)
    assert services.review.cases.get(withdrawn.id).decisions == ()
    assert watched.complaints == []
