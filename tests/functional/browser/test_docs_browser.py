"""The API's documentation in a real browser, under its strict policy."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from service.moderation.sites import issue_key
from tests.factories import SITE
from tests.functional.browser.conftest import Watched


@pytest.fixture
def docs_page(browser, services, address):
    """Return the page of the API, with a key of a site put in."""
    key = issue_key(SITE, services, actor="Ola").secret
    context = browser.new_context(base_url=address, viewport={"width": 320, "height": 800})
    watched = Watched(context.new_page())
    watched.key = key
    watched.page.goto("/docs#problem-conflict")
    watched.page.locator("html[data-ready]").wait_for()
    yield watched
    context.close()


def _authorize(page, key: str) -> None:
    page.locator(".auth-wrapper .authorize").first.click()
    page.locator(".auth-container input").fill(key)
    page.locator(".auth-btn-wrapper .authorize").click()
    page.locator(".btn-done").click()


def test_a_call_is_tried_with_ones_own_key_under_a_strict_policy(docs_page):
    page = docs_page.page
    # A problem's type leads to what it means, on a telephone too.
    expect(page.locator("#problem-conflict")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.set_viewport_size({"width": 1280, "height": 900})
    sent = []
    page.on("request", lambda request: sent.append(request))
    _authorize(page, docs_page.key)

    page.locator("#operations-Comments-submit_comment .opblock-summary-control").click()
    page.locator("#operations-Comments-submit_comment .execute").click()

    status = page.locator(
        "#operations-Comments-submit_comment .live-responses-table .response-col_status"
    )
    status.last.wait_for()
    made = next(one for one in sent if one.url.endswith("/v1/comments"))
    assert status.last.inner_text().startswith(("200", "201", "202"))
    assert "cookie" not in made.all_headers()
    assert made.all_headers()["authorization"] == f"Bearer {docs_page.key}"
    kept = page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    )
    assert docs_page.key not in kept
    assert docs_page.complaints == []
