"""The review desk as several people use it: claims, live updates, swipes, notes, a long list."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.moderation.review.decide import decide_comment
from service.web.pages.review.review_page import PAGE_SIZE
from tests.factories import NOW, make_comment
from tests.functional.browser.sent import poll, wait_until_sent
from tests.functional.moderators import add_moderator, keep, make_app, sign_in

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def _keep_queue(services, size):
    """Keep unsure comments, oldest first."""
    comments = [
        make_comment(f"Comment number {n}", received_at=NOW - timedelta(minutes=400 - n))
        for n in range(size)
    ]
    return [keep(services, comment, promo_spans=(), signals=()) for comment in comments]


@pytest.fixture
def queue(services):
    return _keep_queue(services, 4)


def _words(page):
    return page.locator("#opened .words").first


def _row(page, comment):
    return page.locator(f'.row[data-id="{comment.id}"]')


def _colleague(services):
    """Return a client that is signed in as somebody else."""
    add_moderator(services, "Mara")
    client = make_app(services).test_client()
    sign_in(client, "Mara")
    return client


def _swipe(page, element, *stops):
    """Put a finger on an element, move it to each of these distances, lift it."""
    box = element.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 3
    touch = page.context.new_cdp_session(page)

    def send(kind, points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    send("touchStart", [{"x": x, "y": y}])
    before = (0, 0)
    for stop in stops:
        for step in (1, 2, 3, 4):
            dx, dy = (a + (b - a) * step / 4 for a, b in zip(before, stop, strict=True))
            send("touchMove", [{"x": x + dx, "y": y + dy}])
        before = stop
    send("touchEnd", [])


def test_a_queue_is_cleared_by_keyboard_with_a_note_and_a_comment_put_off(
    services, queue, open_page
):
    watched = open_page()
    page = watched.page

    page.keyboard.press("z")
    expect(_words(page)).to_have_text("Comment number 1")
    expect(page.locator(".done")).to_contain_text("Skipped.")
    page.keyboard.press("n")
    page.keyboard.type("jar of spam")
    page.keyboard.press("Escape")
    page.keyboard.press("r")
    expect(_words(page)).to_have_text("Comment number 2")
    page.keyboard.press("a")
    expect(_words(page)).to_have_text("Comment number 3")
    page.keyboard.press("a")
    expect(_words(page)).to_have_text("Comment number 0")
    page.keyboard.press("a")
    expect(page.locator(".list")).to_contain_text("Nothing waits for you")

    wait_until_sent(page)
    decisions = [services.review.cases.get(comment.id).decision for comment in queue]
    assert [one.ruling.value for one in decisions] == ["approve", "reject", "approve", "approve"]
    assert [one.note for one in decisions] == [None, "jar of spam", None, None]
    assert watched.complaints == []


def test_two_moderators_at_once_are_kept_apart_and_told(services, queue, open_page):
    watched = open_page()
    page = watched.page
    mara = _colleague(services)

    mara.get(f"/review/comments/{queue[1].id}")
    poll(page)
    expect(_row(page, queue[1])).to_contain_text("Mara is looking at it")
    page.keyboard.press("a")
    expect(_words(page)).to_have_text("Comment number 2")
    decide_comment(queue[1].id, Ruling.REJECT, services, decided_by="Mara")
    poll(page)
    expect(_row(page, queue[1])).to_contain_text("Rejected")

    expect(page.locator(".tabs [aria-current] .count")).to_have_text("2")
    expect(page.locator(".row")).to_have_count(4)
    assert watched.complaints == []


def test_news_arrive_without_moving_the_row_under_the_hand(services, queue, open_page):
    watched = open_page()
    page = watched.page
    expect(page.locator("html[data-ready]")).to_be_attached()
    page.keyboard.press("j")
    expect(_words(page)).to_have_text("Comment number 1")
    before = _row(page, queue[1]).bounding_box()

    new = keep(
        services,
        make_comment("Brand new", received_at=NOW),
        judged_at=NOW + timedelta(seconds=1),
        signals=(),
    )
    poll(page)
    bar = page.locator(".newcomers")
    expect(bar).to_have_text("1 new comment, show it")
    assert _row(page, queue[1]).bounding_box() == before
    expect(_row(page, queue[1]).locator("a")).to_be_focused()
    bar.click()
    expect(_row(page, new)).to_be_visible()

    expect(bar).to_be_hidden()
    expect(_words(page)).to_have_text("Comment number 1")
    assert watched.complaints == []


def test_a_phone_clears_its_list_by_swipes(services, queue, open_page):
    watched = open_page(**PHONE)
    page = watched.page
    expect(page.locator("html[data-ready]")).to_be_attached()

    _swipe(page, _row(page, queue[0]), (150, 4))
    expect(_row(page, queue[0])).to_contain_text("Approved")
    _swipe(page, _row(page, queue[1]), (-150, 4))
    expect(_row(page, queue[1])).to_contain_text("Rejected")
    _swipe(page, _row(page, queue[2]), (150, 0), (10, 0))
    _swipe(page, _row(page, queue[2]), (20, -120), (150, -120))
    expect(page.locator(".swiping")).to_be_hidden()
    page.locator(".done button").tap()
    expect(page.locator(".done")).to_contain_text("Undone.")

    wait_until_sent(page)
    rulings = [services.review.cases.get(comment.id).decision for comment in queue]
    assert [one and one.ruling.value for one in rulings] == ["approve", None, None, None]
    assert page.url.endswith("/review")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert watched.complaints == []


def test_a_phone_swipes_through_opened_comments(services, queue, open_page):
    watched = open_page(**PHONE)
    page = watched.page

    _row(page, queue[0]).locator("a").tap()
    expect(_words(page)).to_have_text("Comment number 0")
    expect(page.locator("html[data-ready]")).to_be_attached()
    _swipe(page, page.locator("#opened .scroll"), (-150, 4))
    expect(_words(page)).to_have_text("Comment number 1")

    expect(page.locator(".done")).to_contain_text("Rejected.")
    wait_until_sent(page)
    assert services.review.cases.get(queue[0].id).decision.ruling is Ruling.REJECT
    assert page.evaluate("document.querySelector('.tabs').getBoundingClientRect().height") < 60
    assert watched.complaints == []


def test_the_list_goes_on_and_is_found_again_where_it_was_left(services, open_page):
    kept = _keep_queue(services, PAGE_SIZE * 2 + 3)
    watched = open_page()
    page = watched.page

    far = _row(page, kept[-1])
    for shown in (PAGE_SIZE, PAGE_SIZE * 2):
        expect(page.locator(".row")).to_have_count(shown)
        page.locator(".list").evaluate("list => { list.scrollTop = list.scrollHeight; }")
    expect(far).to_be_visible()
    far.locator("a").first.click()
    expect(_words(page)).to_have_text(f"Comment number {len(kept) - 1}")
    page.goto("/password")
    page.go_back()

    expect(page.locator(".row")).to_have_count(len(kept))
    expect(_words(page)).to_have_text(f"Comment number {len(kept) - 1}")
    expect(far).to_be_in_viewport()
    assert not re.search("cursor=", page.url)
    assert watched.complaints == []
