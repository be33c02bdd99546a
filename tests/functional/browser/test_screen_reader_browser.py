"""What a screen reader is told: the names of the desk's controls, and what changes while it works.

Names are read from Chromium's accessibility tree, which is what a screen reader is handed.
"""

from __future__ import annotations

from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.factories import make_comment
from tests.functional.filled import fill
from tests.functional.moderators import keep

CONTROLS = {"button", "link", "checkbox", "textbox", "combobox", "DisclosureTriangle", "searchbox"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One node that a screen reader can come to, with its name and what it says of its state."""

    role: str
    name: str
    states: dict[str, object]


def tree(page: Page) -> list[Node]:
    """Return what the accessibility tree holds, in the order in which it is read."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    return [
        Node(
            role=node["role"]["value"],
            name=node.get("name", {}).get("value", ""),
            states={one["name"]: one["value"].get("value") for one in node.get("properties", ())},
        )
        for node in nodes
        if not node["ignored"]
    ]


def names(nodes: list[Node], role: str) -> list[str]:
    return [node.name for node in nodes if node.role == role]


def opened(open_page, path: str = "/review", **options: object) -> Page:
    page: Page = open_page(path, **options).page
    expect(page.locator("html[data-ready]")).to_be_attached()
    return page


def test_every_control_of_the_desk_has_a_name(services, open_page):
    known = fill(services)

    for path in ("/review", f"/review/comments/{known['comment_id']}", "/review?show=decided"):
        nodes = tree(opened(open_page, path))
        nameless = [node for node in nodes if node.role in CONTROLS and not node.name.strip()]

        assert nameless == [], path
        assert len([node for node in nodes if node.role in CONTROLS]) > 15, path


def test_the_controls_of_the_queue_say_what_they_do(services, open_page):
    keep(services, make_comment("Thank you, that worked."))
    nodes = tree(opened(open_page))

    buttons = names(nodes, "button")
    # The words that are seen come first, so that whoever speaks to the page is understood.
    for begins in ("Approve", "Reject", "Skip", "Keyboard"):
        assert any(name.startswith(begins) for name in buttons), (begins, buttons)
    assert "Select the comment by Mara" in names(nodes, "checkbox")
    assert {"Pages", "Lists"} <= set(names(nodes, "navigation"))
    assert "Comments" in names(nodes, "region")
    assert "Opened comment" in names(nodes, "article")
    assert names(nodes, "main")
    assert "50% probability of spam; ham below 10%, spam from 90%" in names(nodes, "image")


def test_what_was_decided_and_where_one_stands_is_announced(services, open_page):
    for number in range(2):
        keep(services, make_comment(f"Comment number {number}"))
    page = opened(open_page, locale="de")

    page.keyboard.press("j")
    expect(page.locator("#spoken")).to_have_text("Kommentar 2 von 2")
    page.keyboard.press("a")
    expect(page.locator("[data-part=done]")).to_contain_text("Freigegeben.")

    # Only a live region is spoken without being gone to.
    for region in ("#spoken", "[data-part=done]"):
        assert page.locator(region).get_attribute("role") == "status"
    assert page.locator("[data-part=done]").evaluate("e => e.getClientRects().length") > 0
    assert any("Freigegeben." in node.name for node in tree(page) if node.role == "StaticText")


def test_what_is_not_sent_is_announced(services, open_page):
    for number in range(3):
        keep(services, make_comment(f"Comment number {number}"))
    page = opened(open_page)

    page.context.set_offline(True)
    page.keyboard.press("a")

    expect(page.locator("#spoken")).to_contain_text("cannot be sent at the moment. It is kept")
    expect(page.locator("[data-part=sending]")).to_contain_text("1 not sent")
    page.context.set_offline(False)
    expect(page.locator("#spoken")).to_contain_text("Everything is sent.", timeout=30_000)
