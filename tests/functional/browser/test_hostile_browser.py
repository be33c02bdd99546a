"""Whatever strangers write, a real browser runs none of it and the page keeps its shape."""

from __future__ import annotations

import re

from tests.functional.filled import fill, keep_hostile, keep_hostile_names, page_addresses
from tests.functional.hostile import HOSTILE
from tests.functional.moderators import make_app

WIDTHS = (1280, 390)
# What one comment may hold of them.
_LOT_CHARS = 65_000
_FURTHER = re.compile(r"^(Next page|Older)$")


def _groups():
    """Return all that is hostile in lots that make one comment each, of three to twelve texts."""
    lots = []
    for text in sorted(HOSTILE.values(), key=len):
        if lots and len(lots[-1]) < 12 and sum(map(len, lots[-1])) + len(text) < _LOT_CHARS:
            lots[-1].append(text)
        else:
            lots.append([text])
    return [lot * 3 if len(lot) < 3 else lot for lot in lots]


def _too_wide(page):
    """Return the widths at which the page, all of it unfolded, scrolls sideways."""
    page.evaluate("document.querySelectorAll('main details').forEach(d => { d.open = true; })")
    found = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(width)
    return found


def test_no_page_that_shows_hostile_words_runs_them_or_breaks(services, open_page):
    known = fill(services)
    kept = [keep_hostile(services, lot) for lot in _groups()]
    keep_hostile_names(services, list(HOSTILE.values())[::5])
    services.search.index_due(limit=1_000)
    comments = [f"/review/comments/{one}?show=ham" for one, _ in kept]
    campaigns = [f"/review/campaigns/{one}" for _, one in kept[:3]]
    searches = ["/review/search?q=outcome:unsure", "/review/search?q=%3Cscript%3E+author:%22%3Csvg"]
    watched = open_page()
    page = watched.page
    found = []

    for first in [*page_addresses(make_app(services), known), *searches, *campaigns, *comments]:
        address = first
        while address:
            page.goto(address)
            found += [(address, width) for width in _too_wide(page)]
            if first in comments:
                # What decides must stay in reach, whatever stands above it.
                assert page.get_by_role("button", name="Reject").first.is_visible(), address
            further = page.get_by_role("link", name=_FURTHER)
            address = further.get_attribute("href") if further.count() else None

    assert found == []
    assert watched.complaints == []
