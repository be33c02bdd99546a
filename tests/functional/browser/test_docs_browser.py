"""The API's documentation in a real browser, under its strict policy."""

from __future__ import annotations

import pytest

from tests.functional.browser.conftest import Watched


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_documentation_fits_the_window_and_the_browser_has_no_complaint(
    browser, address, width, scheme
):
    context = browser.new_context(
        base_url=address, viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    watched = Watched(context.new_page())

    watched.page.goto("/docs#submit_comment")
    watched.page.locator("#submit_comment details summary").first.click()

    wider_by = watched.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    ground = watched.page.evaluate("getComputedStyle(document.body).backgroundColor")
    shown = watched.page.locator("#submit_comment details pre").first.is_visible()
    context.close()
    assert watched.complaints == []
    assert wider_by <= 0
    assert shown
    assert ground == {"light": "rgb(252, 251, 248)", "dark": "rgb(20, 23, 26)"}[scheme]
