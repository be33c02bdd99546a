"""Waits for what a page sends behind the moderator's back, before a test looks into the store."""

from __future__ import annotations

from playwright.sync_api import Page

_ALL_SENT = "() => !Object.keys(sessionStorage).some((name) => name.startsWith('unsent '))"


def wait_until_sent(page: Page) -> None:
    """Return once the server has answered every ruling that the page keeps until then."""
    page.wait_for_function(_ALL_SENT)


def poll(page: Page) -> None:
    """Let the page ask at once what it asks every 15 seconds."""
    with page.expect_response("**/review/counts*"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
