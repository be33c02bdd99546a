"""The review page in a real browser: keys, places kept, narrow screens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment
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


def test_a_whole_page_can_be_decided_without_touching_anything_else(services, queue, open_page):
    watched = open_page()
    page = watched.page

    for number in range(10):
        expect(_words(page)).to_have_text(f"Comment number {number}")
        page.keyboard.press("a")
    expect(page.locator(".list")).to_contain_text("Nothing waits for you")

    wait_until_sent(page)
    assert all(services.review.cases.get(c.id).decision for c in queue)
    assert watched.complaints == []


def test_clicking_works_as_the_keys_do(services, queue, open_page):
    watched = open_page()
    page = watched.page

    page.click(f'.row[data-id="{queue[4].id}"] a')
    expect(_words(page)).to_have_text("Comment number 4")
    page.click("button.approve")
    expect(_words(page)).to_have_text("Comment number 5")
    page.click(".done button")
    expect(_words(page)).to_have_text("Comment number 4")

    wait_until_sent(page)
    assert services.review.cases.get(queue[4].id).decision is None
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


def test_a_colleagues_ruling_stops_ones_own_and_is_told(services, queue, open_page):
    page = open_page().page
    decide_comment(queue[0].id, Ruling.APPROVE, services, decided_by="Mara")

    page.keyboard.press("r")

    expect(page.locator(".conflict")).to_contain_text("Mara approved this comment")
    assert services.review.cases.get(queue[0].id).decision.decided_by == "Mara"


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


def test_a_phone_shows_the_list_then_one_comment_with_big_buttons(services, queue, open_page):
    watched = open_page(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = watched.page

    expect(page.locator(".list")).to_be_visible()
    expect(page.locator("#opened")).to_be_hidden()
    page.tap(f'.row[data-id="{queue[3].id}"] a')
    expect(page.locator(".list")).to_be_hidden()
    size = page.locator("button.reject").bounding_box()
    page.tap("button.reject")
    expect(_words(page)).to_have_text("Comment number 4")
    wait_until_sent(page)

    assert size["height"] >= 44
    assert size["width"] >= 44
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert services.review.cases.get(queue[3].id).decision.ruling is Ruling.REJECT
    assert watched.complaints == []


_CONTRAST = """() => {
  const linear = (c) => c <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const channel = (c) => linear(c / 255);
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (c) => .2126 * channel(c[0]) + .7152 * channel(c[1]) + .0722 * channel(c[2]);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = rgb(getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > .99) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const [a, b] = [light(rgb(style.color)), light(behind(element))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) poor.push(`${element.className || element.tagName} ${ratio.toFixed(2)}`);
  }
  return [...new Set(poor)];
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "path", ["/review", "/review?show=decided", "/callbacks", "/password", "/nowhere"]
)
def test_every_word_stands_out_from_its_ground(services, queue, open_page, scheme, path):
    keep(services, make_comment("pay\u200bpal"), Outcome.SPAM)
    decide_comment(queue[0].id, Ruling.APPROVE, services, decided_by="Mara")
    decide_comment(queue[1].id, Ruling.REJECT, services, decided_by="Mara")
    page = open_page(color_scheme=scheme).page

    page.goto(path)

    assert page.locator("body").inner_text().strip()
    assert page.evaluate(_CONTRAST) == []
