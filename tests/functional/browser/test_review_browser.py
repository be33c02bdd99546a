"""The review page in a real browser: keys, places kept, narrow screens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from tests.factories import NOW, make_comment
from tests.functional.browser.sent import wait_until_sent
from tests.functional.moderators import keep


@pytest.fixture
def queue(services):
    """Ten unsure comments, oldest first."""
    comments = [
        make_comment(f"Comment number {n}", received_at=NOW - timedelta(hours=20 - n))
        for n in range(10)
    ]
    return [keep(services, comment, promo_spans=(), signals=()) for comment in comments]


def _chosen(page):
    return page.locator('.row:has(a[aria-current="true"])')


def _words(page):
    return page.locator("#opened .words").first


def test_a_moderator_decides_and_undoes_by_keyboard_alone(services, queue, open_page):
    watched = open_page()
    page = watched.page

    page.keyboard.press("j")
    expect(_words(page)).to_have_text("Comment number 1")
    page.keyboard.press("r")
    expect(_words(page)).to_have_text("Comment number 2")
    page.keyboard.press("a")
    expect(_words(page)).to_have_text("Comment number 3")
    page.keyboard.press("k")
    expect(_words(page)).to_have_text("Comment number 2")
    page.keyboard.press("u")
    expect(page.locator(".done")).to_contain_text("Undone.")
    expect(_words(page)).to_have_text("Comment number 2")
    page.keyboard.press("u")
    expect(_words(page)).to_have_text("Comment number 1")

    wait_until_sent(page)
    assert services.review.cases.get(queue[1].id).decision is None
    assert services.review.cases.get(queue[2].id).decision is None
    assert [d.ruling for d in services.review.cases.get(queue[1].id).decisions] == [Ruling.REJECT]
    assert [d.ruling for d in services.review.cases.get(queue[2].id).decisions] == [Ruling.APPROVE]
    assert watched.complaints == []


def test_a_decided_comment_keeps_its_place_in_the_list(services, queue, open_page):
    watched = open_page()
    page = watched.page

    page.keyboard.press("r")
    expect(_words(page)).to_have_text("Comment number 1")

    expect(page.locator(".row")).to_have_count(10)
    expect(page.locator(".row").first).to_contain_text("Rejected")
    expect(page.locator(".done")).to_contain_text("The site rejects it.")
    expect(page.locator(".tabs a").first).to_contain_text("9")
    expect(_chosen(page)).to_have_attribute("data-id", queue[1].id)
    assert page.url.endswith(f"/review/comments/{queue[1].id}")
    assert watched.complaints == []


def test_keys_do_nothing_while_one_types_or_holds_a_modifier(services, queue, open_page):
    page = open_page().page

    page.keyboard.press("Control+a")
    page.keyboard.press("Alt+r")
    page.evaluate("document.querySelector('.lists').append(document.createElement('input'))")
    page.locator(".lists input:not([type])").press_sequentially("jar")
    page.keyboard.press("Tab")

    expect(_words(page)).to_have_text("Comment number 0")
    assert not any(services.review.cases.get(c.id).decisions for c in queue)


def test_the_help_sheet_opens_and_closes_by_key(queue, open_page):
    watched = open_page()
    page = watched.page

    page.keyboard.press("?")
    expect(page.locator("dialog.help")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.help")).to_be_hidden()

    expect(_words(page)).to_have_text("Comment number 0")
    assert watched.complaints == []


def test_everything_works_without_scripts(services, queue, open_page):
    page = open_page(java_script_enabled=False).page

    page.click(f'.row[data-id="{queue[2].id}"] a')
    page.click("button.reject")
    expect(_words(page)).to_have_text("Comment number 3")
    page.click(".done button")
    expect(_words(page)).to_have_text("Comment number 2")

    assert services.review.cases.get(queue[2].id).decision is None
    assert len(services.review.cases.get(queue[2].id).decisions) == 1
