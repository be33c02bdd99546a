"""Whatever strangers write, a real browser runs none of it and the page keeps its shape."""

from __future__ import annotations

import re
from dataclasses import replace

from service.domain.comment import Author, Post
from tests.factories import make_comment
from tests.functional.filled import fill, keep_hostile, keep_hostile_names, page_addresses
from tests.functional.hostile import HOSTILE, hostile_comment
from tests.functional.moderators import keep, make_app

WIDTHS = (1280, 390)
# Beyond it a text is hostile by its length and stands alone.
_SHORT_CHARS = 400
_FURTHER = re.compile(r"^(Next page|Older)$")


def _groups():
    """Return all that is hostile in lots that make one comment each."""
    short = [text for text in HOSTILE.values() if len(text) <= _SHORT_CHARS]
    lots = [short[start : start + 12] for start in range(0, len(short) - 2, 12)]
    return lots + [[text] * 3 for text in HOSTILE.values() if len(text) > _SHORT_CHARS]


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
    services.review.search.index_due(limit=1_000)
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


def test_a_list_of_hostile_comments_keeps_its_shape(services, open_page):
    for text in HOSTILE.values():
        told = replace(
            hostile_comment(text), author=Author(name=text[:300]), post=Post(title=text[:500])
        )
        keep(services, told)
    unseen = "\u200b\u200c\u200d\u2060\u202e" * 60
    keep(services, make_comment(unseen, author=Author(name=unseen), post=Post(title=unseen)))
    watched = open_page()
    page = watched.page

    # Two or four lines of words between a name and a title.
    for width, tallest in zip(WIDTHS, (130, 175), strict=True):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        height = page.evaluate(
            "Math.max(...[...document.querySelectorAll('.row')].map(r => r.offsetHeight))"
        )
        assert 0 < height < tallest
    assert watched.complaints == []
