"""The search page in a real browser: found, rejected with the number named, undone, exported."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from service.domain.comment import Author
from tests.factories import NOW, make_comment
from tests.functional.moderators import keep


@pytest.fixture
def found(services):
    """Forty comments of one campaign, and two of other people."""
    wide = Author(name="W" * 300)
    lot = [
        make_comment(
            f"=cheap loans {'long' * 80} <b>{n}</b>\u202e",
            received_at=NOW - timedelta(minutes=n),
            author=wide,
        )
        for n in range(40)
    ]
    others = [make_comment("my radiator is cold") for _ in range(2)]
    kept = [keep(services, one) for one in lot], [keep(services, one) for one in others]
    services.review.search.index_due(limit=100)
    return kept


def test_a_whole_search_is_rejected_taken_back_and_exported(services, found, open_page):
    watched = open_page()
    page = watched.page

    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Words and fields").fill("loans decision:none")
    page.keyboard.press("Enter")
    expect(page.locator(".row")).to_have_count(25)
    page.get_by_role("button", name="Reject all 40").click()
    expect(page.get_by_role("status")).to_contain_text("40 comments rejected")
    expect(page.get_by_role("heading", name="0 comments")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("heading", name="40 comments")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()

    lines = Path(download.value.path()).read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == 41
    assert "\"'=cheap loans" in lines[1]
    assert all(services.review.cases.get(one.id).decision is None for one in found[0])
    assert watched.complaints == []
