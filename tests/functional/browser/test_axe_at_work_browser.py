"""axe-core finds nothing on the desk while it is worked at, nor on the pages that strangers see."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from service.domain.comment import Author, Post
from service.domain.inbound import Platform
from service.domain.site import SiteSettings
from service.domain.verdict import Outcome
from tests.factories import SITE, make_comment
from tests.functional.browser.axe import broken_rules
from tests.functional.browser.test_axe_browser import _fill
from tests.functional.moderators import keep
from tests.functional.webhooks.conftest import add_hook

POST = "https://blog.example/radiators/"


def broken(page: Page, when: str) -> list[tuple[str, str, str, list[str]]]:
    return [(when, *one) for one in broken_rules(page)]


@pytest.mark.parametrize("width", [390, 640, 1280])
def test_the_desk_at_work_breaks_no_rule(services, open_page, width):
    known = _fill(services)
    # So high that the bar at the lower edge lies over nothing.
    page = open_page(viewport={"width": width, "height": 2_000}).page

    page.goto(f"/review/comments/{known['comment_id']}")
    expect(page.locator("html[data-ready]")).to_be_attached()
    page.locator(".reasons summary").click()
    page.locator(".noting summary").click()
    found = broken(page, "reasons and note")
    page.locator(".with-list summary").first.click()
    found += broken(page, "menu of lists")
    page.locator(".with-list summary").first.click()
    page.locator("#opened .approve[name=ruling]").click()
    expect(page.locator("[data-part=done]")).to_contain_text("Approved.")
    found += broken(page, "a decision was made")
    page.goto("/review")
    page.locator(".tick").first.check()
    found += broken(page, "one is selected")

    assert found == []


def test_what_strangers_see_breaks_no_rule(services, browser, address):
    services.common.sites.change_settings(
        SITE, lambda _: SiteSettings(blog="https://blog.example/", public_feed=True)
    )
    feed = f"/public/{add_hook(services, Platform.STATIC_FORM, secret='')}/comments.html?post="
    comment = make_comment(
        "One.\n\nTwo", post=Post(url=POST), author=Author(name="Mara", url="https://mara.example")
    )
    keep(services, comment, Outcome.HAM)
    context = browser.new_context(base_url=address)
    page = context.new_page()
    found = []

    for path, shows in [
        (f"{feed}{POST}", "Mara"),
        (f"{feed}{POST}empty", "No comments yet."),
        ("/sign-in", "Sign in"),
    ]:
        page.goto(path)
        expect(page.locator("body")).to_contain_text(shows)
        found += broken(page, path)
    page.fill("#name", "Nobody")
    page.fill("#password", "a wrong password")
    page.keyboard.press("Enter")
    expect(page.locator(".refusal")).to_be_visible()
    found += broken(page, "refused")
    context.close()

    assert found == []
