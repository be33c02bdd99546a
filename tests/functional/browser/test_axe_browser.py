"""axe-core finds nothing to complain of on any page, in either theme."""

from __future__ import annotations

from tests.functional.browser.axe import broken_rules
from tests.functional.filled import fill, page_addresses
from tests.functional.moderators import make_app


# On a telephone: what is hidden on a wide screen is there, and what a wide one shows as well.
def test_no_page_breaks_a_rule_of_accessibility(services, open_page):
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
    held = services.review.cases.get(known["comment_id"])
    telling[services.telling.statements.url_of_comment(held.comment)] = "#appeal"
    watched = open_page(viewport={"width": 390, "height": 900})
    page = watched.page
    found = []

    for address in dict.fromkeys([*page_addresses(make_app(services), known), *telling]):
        answer = page.goto(address)
        assert answer.ok, address
        page.locator(telling.get(address, "h1")).first.wait_for(state="attached")
        page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
        found += [(address, *broken) for broken in broken_rules(page)]

    assert found == []
    assert watched.complaints == []


def test_the_wide_desk_its_menus_and_the_help_sheet_break_no_rule(services, open_page):
    known = fill(services)
    page = open_page(f"/review/comments/{known['comment_id']}").page
    desk = broken_rules(page)

    page.locator("details.menu > summary").first.click()
    menu = broken_rules(page)
    page.evaluate("document.querySelector('dialog.help').showModal()")
    sheet = broken_rules(page)

    assert desk + menu + sheet == []


def test_what_breaks_a_rule_in_one_theme_alone_is_found(browser):
    page = browser.new_page()
    page.set_content(
        """<!doctype html><html lang="en"><title>A page</title><style>
        body { background: #fff; color: #000 }
        @media (prefers-color-scheme: dark) { p { color: #ddd } }
        @media (prefers-color-scheme: light) { b { color: #ddd } }
        </style><main><h1>Words</h1><p>Dark.</p><b>Light.</b></main></html>"""
    )

    found = broken_rules(page)

    page.close()
    assert found == [
        ("light", "color-contrast", ["<b>Light.</b>"]),
        ("dark", "color-contrast", ["<p>Dark.</p>"]),
    ]
