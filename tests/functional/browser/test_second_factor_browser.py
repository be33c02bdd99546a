"""Signing in with a second factor in a real browser, by keyboard, without scripts too."""

from __future__ import annotations

import pyotp
from playwright.sync_api import Page, expect

from tests.functional.moderators import PASSWORD


def _code(secret: str, services) -> str:
    return pyotp.TOTP(secret).at(int(services.common.clock().timestamp()))


def _set_up(page: Page, services) -> str:
    page.get_by_text("Ola").first.click()
    page.get_by_role("link", name="Your account").click()
    page.get_by_role("link", name="Second factor").click()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("svg.square")).to_be_visible()
    secret = page.locator(".secret").inner_text().replace(" ", "")
    page.get_by_label("The six digits that the app shows now").fill(_code(secret, services))
    page.keyboard.press("Enter")
    expect(page.locator(".codes li")).to_have_count(10)
    return secret


def test_a_second_factor_is_set_up_and_asked_for(services, open_page):
    watched = open_page(
        viewport={"width": 390, "height": 800}, java_script_enabled=False, locale="en"
    )
    page = watched.page
    secret = _set_up(page, services)
    services.common.clock.advance(minutes=1)

    page.get_by_role("link", name="I have saved them").click()
    page.get_by_text("Ola").first.click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Name").fill("Ola")
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Six digits, or a recovery code")).to_be_focused()
    page.keyboard.type(_code(secret, services))
    page.keyboard.press("Enter")
    page.wait_for_url("**/review")

    assert watched.complaints == []
