"""Zoomed to two and four times, a 1280 px wide screen shows each page without sideways scrolling.

A browser that zooms lays a page out for a screen of fewer CSS pixels, so a small window stands for
it: 640 x 512 for 200 %, 320 x 256 for 400 % (WCAG 2.2, 1.4.4 and 1.4.10).
"""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.functional.filled import fill, page_addresses
from tests.functional.moderators import make_app

SIZES = [(640, 512), (320, 256)]
# What runs out of the window, but for what needs two dimensions to be understood and scrolls alone.
_SIDEWAYS = """() => {
  const wide = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wide.push(`page ${root.scrollWidth}`);
  for (const one of document.querySelectorAll("body *")) {
    const style = getComputedStyle(one);
    if (!/auto|scroll/.test(style.overflowX) || one.scrollWidth <= one.clientWidth + 1) continue;
    if (one.clientWidth < 8 || one.matches("pre, input, textarea, select")) continue;
    if (!one.querySelector("table, svg, pre")) wide.push(`${one.tagName}.${one.className}`);
  }
  return wide;
}"""
# How much of the words can be read and of the window is covered by what stays when it scrolls.
_SEEN = """() => {
  const words = document.querySelector("#opened .words");
  const rule = document.querySelector("#opened .act .rule");
  const [w, r] = [words.getBoundingClientRect(), rule.getBoundingClientRect()];
  const line = parseFloat(getComputedStyle(words).lineHeight);
  const shown = Math.min(w.bottom, r.top, innerHeight) - Math.max(w.top, 0);
  const inside = (one) => {
    const box = one.getBoundingClientRect();
    return box.top >= 0 && box.bottom <= innerHeight && box.left >= 0 && box.right <= innerWidth;
  };
  let stays = 0;
  for (const one of document.querySelectorAll("body *")) {
    const box = one.getBoundingClientRect();
    if (!/sticky|fixed/.test(getComputedStyle(one).position) || !box.height) continue;
    const [from, to] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
    if (to > from && box.width > innerWidth / 2) stays += to - from;
  }
  return {
    lines: shown / line,
    all: w.height / line,
    buttons: [...rule.querySelectorAll(".approve, .reject")].map(inside),
    stays: stays / innerHeight,
  };
}"""
_FOCUSED = """() => {
  const box = document.activeElement.getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight && box.height > 0;
}"""


# The spacing that 1.4.12 lets readers ask for.
_SPACING = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: .12em !important;
  word-spacing: .16em !important } p { margin-bottom: 2em !important }`);
  document.adoptedStyleSheets = [sheet];
}"""
# What is cut by its own box, but for what only screen readers read and for rows, which are gists.
_CUT = """() => [...document.querySelectorAll("main *, header *, .lists *")].filter((one) =>
  /hidden|clip/.test(getComputedStyle(one).overflowY)
  && one.scrollHeight > one.clientHeight + 1 && one.clientHeight > 1
  && !one.closest(".row, .unseen-label, svg")).map((one) => `${one.tagName}.${one.className}`)"""


def _seen_at_rest(page) -> dict:
    """Return what is seen once two readings in a row are alike: the page may still be scrolling."""
    seen, before = page.evaluate(_SEEN), None
    while seen != before:
        page.wait_for_timeout(100)
        seen, before = page.evaluate(_SEEN), seen
    return seen


def test_no_page_scrolls_sideways_when_zoomed(services, open_page):
    known = fill(services)
    watched = open_page(locale="de")
    page = watched.page
    found = []

    for address in [*page_addresses(make_app(services), known), "/docs"]:
        assert page.goto(address).ok, address
        page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
        # A page is zoomed as it stands.
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            found += [(address, width, one) for one in page.evaluate(_SIDEWAYS)]

    assert found == []
    assert watched.complaints == []


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_zoomed_comment_is_seen_with_what_can_be_done_about_it(
    services, open_page, width, height
):
    known = fill(services)
    watched = open_page(
        f"/review/comments/{known['comment_id']}",
        viewport={"width": width, "height": height},
        locale="de",
    )
    page = watched.page
    expect(page.locator("html[data-ready]")).to_be_attached()
    seen = [_seen_at_rest(page)]
    page.locator("#opened .approve").first.click()
    expect(page.locator(f"#opened [data-opened={known['comment_id']}]")).not_to_be_attached()
    seen.append(_seen_at_rest(page))

    page.locator("#opened .skipping").focus()
    skip = page.evaluate(_FOCUSED)
    page.locator("#opened .noting summary").focus()
    page.keyboard.press("Enter")
    page.locator("#opened textarea").focus()
    note = page.evaluate(_FOCUSED)

    for one in seen:
        assert one["buttons"] == [True, True]
        assert one["lines"] >= min(1.5, one["all"] - 0.1), one
        assert one["stays"] <= 0.25, one
    assert (skip, note) == (True, True)
    assert watched.complaints == []


def test_nothing_is_cut_where_letters_and_lines_are_spaced(services, open_page):
    known = fill(services)
    page = open_page(
        f"/review/comments/{known['comment_id']}", viewport={"width": 320, "height": 800}
    ).page
    expect(page.locator("html[data-ready]")).to_be_attached()

    page.evaluate(_SPACING)

    assert page.evaluate(_CUT) == []
    assert page.evaluate(_SIDEWAYS) == []
