"""What axe-core finds on a page as it stands, in both themes: it is loaded and worked at once."""

from __future__ import annotations

from collections.abc import Sequence

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# The rules of WCAG 2.2, levels A and AA, and axe-core's own best practices.
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A theme is of colours alone, and so are these two of them.
_COLOUR_RULES = ["color-contrast", "link-in-text-block"]
_RUNS = {
    "light": {"type": "tag", "values": _TAGS},
    "dark": {"type": "rule", "values": _COLOUR_RULES},
}
_SCRIPT = Axe().axe_script
_RUN = """async (options) => (await axe.run(document, options)).violations.map(
  (one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))])"""


def broken_rules(
    page: Page, *, schemes: Sequence[str] = ("light", "dark")
) -> list[tuple[str, str, list[str]]]:
    """Return the theme, the rule and up to three elements of each that breaks it.

    All rules are asked in the light, those of colours in the dark: a theme is of style sheets
    alone, so the page need not be loaded anew. Without motion no colour is looked at on its way to
    another.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT)
    found = []
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        asked = {"runOnly": _RUNS[scheme], "resultTypes": ["violations"]}
        found += [(scheme, rule, nodes) for rule, nodes in page.evaluate(_RUN, asked)]
    return found
