"""axe-core finds nothing to complain of on any page, hostile words break none, and zoomed it fits.

A browser that zooms lays a page out for a screen of fewer CSS pixels, so a small window stands for
it: of a screen of 1280 x 1024, 640 x 512 for 200 %, 320 x 256 for 400 % (WCAG 2.2, 1.4.4, 1.4.10).
"""

import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.functional.browser.conftest import ready
from tests.functional.filled import fill, keep_all_hostile, page_addresses
from tests.functional.moderators import make_app

# The rules of WCAG 2.2, levels A and AA, axe-core's best practices, and its one rule of 2.5.3.
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A theme is of colours alone, and so are these two of them.
_COLOUR_RULES = ["color-contrast", "link-in-text-block"]
_NAMES = {"label-content-name-mismatch": {"enabled": True}}
_RUNS = {
    "light": {"runOnly": {"type": "tag", "values": _TAGS}, "rules": _NAMES},
    "dark": {"runOnly": {"type": "rule", "values": _COLOUR_RULES}},
}
_SCRIPT = Axe().axe_script
_RUN = """async (options) => (await axe.run(document, options)).violations.map(
  (one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))])"""


def broken_rules(page: Page) -> list[tuple[str, str, list[str]]]:
    """Return the theme, the rule and up to three elements of each that breaks it.

    A theme is of style sheets alone: no page is loaded again. Without motion no colour changes.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT)
    found = []
    for scheme in _RUNS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        asked = _RUNS[scheme] | {"resultTypes": ["violations"]}
        found += [(scheme, rule, nodes) for rule, nodes in page.evaluate(_RUN, asked)]
    return found


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


# On a telephone: what is hidden on a wide screen is there, and what a wide one shows as well.
def test_no_page_breaks_a_rule_of_accessibility_or_scrolls_sideways_when_zoomed(
    services, quiet_page
):
    known = fill(services)
    # The addresses that show what no page shows by itself, and what that is.
    telling = {
        "/review": ".campaign-strip",
        "/review?show=decided": ".stamp",
        f"/review/comments/{known['comment_id']}": ".sender",
        f"/review/comments/{known['of_the_campaign']}": ".similar",
        f"/review/comments/{known['claimed']}": ".claimed",
        f"/review/comments/{known['decided']}": ".note",
        f"/review/comments/{known['answers']}": ".thread",
        "/review/search?q=boilers": ".found .row",
        "/lists?show=allow": "#new",
        "/models": "main:has(.checks) section:has(#retrainings) progress",
    }
    held = services.cases.get(known["comment_id"])
    telling[services.statements.url_of_comment(held.comment)] = "#appeal"
    page = quiet_page(locale="de")
    found = []

    for address in dict.fromkeys([*page_addresses(make_app(services), known), *telling]):
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.goto(address).ok, address
        page.locator(telling.get(address, "h1")).first.wait_for(state="attached")
        page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
        found += [(address, *broken) for broken in broken_rules(page)]
        # A page is zoomed as it stands.
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            found += [(address, width, one) for one in page.evaluate(_SIDEWAYS)]

    assert found == []


def test_the_wide_desk_its_menus_and_the_help_sheet_break_no_rule(services, open_page):
    known = fill(services)
    page = open_page(f"/review/comments/{known['comment_id']}").page
    desk = broken_rules(page)

    page.locator("details.menu > summary").first.click()
    menu = broken_rules(page)
    page.evaluate("document.querySelector('dialog.help').showModal()")
    sheet = broken_rules(page)

    assert desk + menu + sheet == []


def test_nothing_is_cut_where_letters_and_lines_are_spaced(services, open_page):
    known = fill(services)
    narrow = {"viewport": {"width": 320, "height": 800}}
    page = ready(open_page(f"/review/comments/{known['comment_id']}", **narrow).page)

    page.evaluate(_SPACING)

    assert page.evaluate(_CUT) == []
    assert page.evaluate(_SIDEWAYS) == []


WIDTHS = (1280, 390)
_FURTHER = re.compile(r"^(Next page|Older)$")


def _too_wide(page):
    """Return the widths at which the page, all of it unfolded, scrolls sideways."""
    page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(width)
    return found


def test_no_page_that_shows_hostile_words_runs_them_or_breaks(services, quiet_page):
    known = fill(services)
    hostile = keep_all_hostile(services)
    page = quiet_page()
    found = []

    for first in [*page_addresses(make_app(services), known), *hostile]:
        address = first
        while address:
            page.goto(address)
            found += [(address, width) for width in _too_wide(page)]
            if "/review/comments/" in first:
                # What decides must stay in reach, whatever stands above it.
                assert page.get_by_role("button", name="Reject").first.is_visible(), address
            further = page.get_by_role("link", name=_FURTHER)
            address = further.get_attribute("href") if further.count() else None

    assert found == []
