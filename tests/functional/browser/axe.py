"""What axe-core finds on a page as it stands, in both themes: it is loaded and worked at once."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SCHEMES = ("light", "dark")
# The rules of WCAG 2.2, levels A and AA, and axe-core's own best practices.
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_OPTIONS = {"runOnly": {"type": "tag", "values": _TAGS}, "resultTypes": ["violations"]}
_SCRIPT = Axe().axe_script
_RUN = """async (options) => (await axe.run(document, options)).violations.map(
  (one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))])"""


def broken_rules(page: Page) -> list[tuple[str, str, list[str]]]:
    """Return the theme, the rule and up to three elements of each that breaks it.

    A theme is of style sheets alone, so the page need not be loaded anew. Without motion no colour
    is looked at on its way to another.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_SCRIPT)
    found = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [(scheme, rule, nodes) for rule, nodes in page.evaluate(_RUN, _OPTIONS)]
    return found
