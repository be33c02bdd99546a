"""The page of allow and block entries in a real browser: a preview, an entry, its removal, undo."""

from __future__ import annotations

from playwright.sync_api import expect

from service.domain.list_entry import Effect, EntryKind
from service.moderation.admin.site_lists import NewEntry, add_entry
from tests.factories import SITE, make_comment
from tests.functional.moderators import keep

HOSTILE = '"><script>alert(1)</script><svg onload=alert(2)>\u202e' + "w" * 120


def test_an_entry_is_tried_added_removed_and_brought_back_without_scripts(services, open_page):
    keep(services, make_comment("Cheap pills for all."))
    add_entry(
        NewEntry(
            effect=Effect.BLOCK,
            kind=EntryKind.PHRASE,
            value=HOSTILE,
            reason=HOSTILE,
            site_id=SITE,
        ),
        services,
        by="Kim",
    )
    viewport = {"width": 390, "height": 800}
    watched = open_page(viewport=viewport, java_script_enabled=False)
    page = watched.page

    page.goto("/lists")
    page.get_by_text("Block something").click()
    form = page.locator("#new")
    form.get_by_label("What", exact=True).select_option("phrase")
    form.get_by_label("Which").fill("cheap pills")
    form.get_by_label("Why").fill("A flood of them")
    form.get_by_role("button", name="See what it would match").click()
    expect(page.locator(".preview")).to_contain_text("matched 1 of the last comment.")
    form.get_by_role("button", name="Block", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("Added to the list.")
    page.get_by_role("button", name="Remove Phrase cheap pills").click()
    expect(page.locator(".entries tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Undo").click()

    expect(page.get_by_role("status")).to_contain_text("Back on the list.")
    assert [
        entry.label for entry in services.reputation.list_entries.in_force(services.common.clock())
    ] == [
        HOSTILE,
        "cheap pills",
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert watched.complaints == []
