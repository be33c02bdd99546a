"""Whole errands of moderators in a real browser, from the first click to the undo."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import expect

from service.domain.comment import Author
from service.domain.decision import Ruling
from service.moderation.privacy.erase import find_person
from tests.factories import NOW, make_comment
from tests.functional.browser.sent import wait_until_sent
from tests.functional.moderators import keep

MARA = "mara@example.org"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def queue(services):
    """Four unsure comments, oldest first."""
    comments = [
        make_comment(f"Comment number {n}", received_at=NOW - timedelta(hours=9 - n))
        for n in range(4)
    ]
    return [keep(services, comment, promo_spans=(), signals=()) for comment in comments]


def _rulings(services, comments):
    decisions = [services.review.cases.get(comment.id).decision for comment in comments]
    return [one and one.ruling for one in decisions]


def test_a_queue_is_cleared_by_buttons_alone_and_the_last_is_taken_back(services, queue, open_page):
    watched = open_page(**PHONE)
    page = watched.page
    page.locator(f'.row[data-id="{queue[0].id}"] a').first.tap()

    for number in range(4):
        expect(page.locator("#opened .words").first).to_have_text(f"Comment number {number}")
        page.locator("button.reject" if number % 2 else "button.approve").tap()
    expect(page.locator(".nothing").first).to_be_visible()
    wait_until_sent(page)
    cleared = _rulings(services, queue)
    page.locator(".done button").tap()
    expect(page.locator(".done")).to_contain_text("Undone.")
    wait_until_sent(page)

    assert cleared == [Ruling.APPROVE, Ruling.REJECT] * 2
    assert _rulings(services, queue) == [*cleared[:3], None]
    assert watched.complaints == []


@pytest.mark.parametrize("by_keys", [True, False], ids=["keys", "mouse"])
def test_selected_comments_are_rejected_in_one_bulk_decision_and_undone(
    services, queue, open_page, by_keys
):
    watched = open_page()
    page = watched.page
    expect(page.locator("html[data-ready]")).to_be_attached()

    if by_keys:
        page.keyboard.press("x")
        page.keyboard.press("j")
        expect(page.locator("#opened .words").first).to_have_text("Comment number 1")
        page.keyboard.press("x")
        expect(page.locator(".selection .n")).to_have_text("2 selected")
        page.keyboard.press("Shift+R")
    else:
        for tick in page.locator(".tick").all()[:2]:
            tick.click()
        expect(page.locator(".selection .n")).to_have_text("2 selected")
        page.locator(".selection .rejects").click()
    expect(page.locator(".done")).to_contain_text("2 comments rejected")
    rejected = _rulings(services, queue)
    page.locator(".done button").click()
    expect(page.locator(".row")).to_have_count(4)

    assert rejected == [Ruling.REJECT] * 2 + [None] * 2
    assert _rulings(services, queue) == [None] * 4
    assert watched.complaints == []


def test_a_person_is_erased_once_the_number_of_comments_is_typed(services, open_page):
    sender = find_person(services.reputation, email=MARA).sender
    theirs = [
        keep(services, make_comment(sender=sender, author=Author(name="Mara"))) for _ in range(3)
    ]
    other = keep(services, make_comment("of somebody else"))
    watched = open_page()
    page = watched.page
    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="Personal data").click()
    page.get_by_label("E-mail address").fill(MARA)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="3 comments are held")).to_be_visible()

    page.locator("#erase-count").fill("2")
    page.get_by_role("button", name="Erase 3 comments").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was erased")
    untouched = [services.review.cases.get(one.id).comment.text for one in theirs]
    page.locator("#erase-count").fill("3")
    page.get_by_role("button", name="Erase 3 comments").click()

    expect(page.get_by_role("status")).to_contain_text("3 comments were erased.")
    assert all(untouched)
    assert [services.review.cases.get(one.id).comment.text for one in theirs] == [""] * 3
    assert services.review.cases.get(other.id).comment.text == "of somebody else"
    assert MARA not in page.url
    # A refusal is told in words; the browser notes its status as well.
    assert [one for one in watched.complaints if "422" not in one] == []
