"""The review desk in a real browser: keys, fingers, colleagues, a long list, a screen reader."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.moderation.decisions import decide_comment
from service.moderation.revise import withdraw_comment
from service.web.pages.review import PAGE_SIZE
from tests.factories import NOW, make_comment
from tests.functional.browser.conftest import keep_queue, poll, press, ready, wait_until_sent, words
from tests.functional.moderators import add_moderator, keep, make_app, rulings, sign_in

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def queue(services):
    return keep_queue(services, 4)


def _row(page, comment):
    return page.locator(f'.row[data-id="{comment.id}"]')


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


def test_a_moderator_decides_and_undoes_by_keyboard_alone(services, queue, quiet_page):
    page = quiet_page()

    press(page, "j", opens=1)
    press(page, "r", opens=2)
    expect(page.locator(".row").nth(1)).to_contain_text("Rejected")
    expect(page.locator(".done")).to_contain_text("The site rejects it.")
    expect(page.locator(".tabs a").first).to_contain_text("3")
    expect(page.locator('.row:has(a[aria-current="true"])')).to_have_attribute(
        "data-id", queue[2].id
    )
    assert page.url.endswith(f"/review/comments/{queue[2].id}")
    press(page, "a", opens=3)
    press(page, "k", opens=2)
    page.keyboard.press("u")
    expect(page.locator(".done")).to_contain_text("Undone.")
    expect(words(page)).to_have_text("Comment number 2")
    press(page, "u", opens=1)

    wait_until_sent(page)
    cases = [services.cases.get(one.id) for one in queue[1:3]]
    assert [case.decision for case in cases] == [None, None]
    assert [[d.ruling for d in case.decisions] for case in cases] == [
        [Ruling.REJECT],
        [Ruling.APPROVE],
    ]


def test_keys_do_nothing_while_one_types_holds_a_modifier_or_reads_the_help(
    services, queue, quiet_page
):
    page = quiet_page()

    page.keyboard.press("Control+a")
    page.keyboard.press("Alt+r")
    page.keyboard.press("?")
    expect(page.locator("dialog.help")).to_be_visible()
    page.keyboard.press("a")
    page.keyboard.press("Escape")
    expect(page.locator("dialog.help")).to_be_hidden()
    page.evaluate("document.querySelector('.lists').append(document.createElement('input'))")
    page.locator(".lists input:not([type])").press_sequentially("jar")
    page.keyboard.press("Tab")

    expect(words(page)).to_have_text("Comment number 0")
    assert not any(services.cases.get(c.id).decisions for c in queue)


def test_everything_works_without_scripts(services, queue, open_page):
    page = open_page(java_script_enabled=False).page

    page.click(f'.row[data-id="{queue[1].id}"] a')
    page.click("button.reject")
    expect(words(page)).to_have_text("Comment number 2")
    page.click(".done button")
    expect(words(page)).to_have_text("Comment number 1")

    assert services.cases.get(queue[1].id).decision is None
    assert len(services.cases.get(queue[1].id).decisions) == 1


def test_the_keys_pass_over_a_withdrawn_comment(services, quiet_page):
    withdrawn = keep(services)
    withdraw_comment(withdrawn.id, services, by="site")
    page = quiet_page("/review?show=all")

    page.locator(".row").click()
    page.keyboard.press("a")

    expect(page.locator("#spoken")).to_have_text("Nothing to decide here")
    expect(page.locator('.row a[aria-current="true"]')).to_have_count(1)
    assert services.cases.get(withdrawn.id).decisions == ()


def test_a_queue_is_cleared_by_keyboard_with_a_note_and_a_comment_put_off(
    services, queue, quiet_page
):
    page = quiet_page()

    press(page, "z", opens=1)
    expect(page.locator(".done")).to_contain_text("Skipped.")
    page.keyboard.press("n")
    page.keyboard.type("jar of spam")
    page.keyboard.press("Escape")
    press(page, "r", opens=2)
    press(page, "a", opens=3)
    press(page, "a", opens=0)
    page.keyboard.press("a")
    expect(page.locator(".list")).to_contain_text("Nothing waits for you")

    wait_until_sent(page)
    decisions = [services.cases.get(comment.id).decision for comment in queue]
    assert [one.ruling.value for one in decisions] == ["approve", "reject", "approve", "approve"]
    assert [one.note for one in decisions] == [None, "jar of spam", None, None]


def test_two_moderators_at_once_are_kept_apart_and_told(services, queue, quiet_page):
    page = quiet_page()
    add_moderator(services, "Mara")
    mara = make_app(services).test_client()
    sign_in(mara, "Mara")

    mara.get(f"/review/comments/{queue[1].id}")
    poll(page)
    expect(_row(page, queue[1])).to_contain_text("Mara is looking at it")
    press(page, "a", opens=2)
    decide_comment(queue[1].id, Ruling.REJECT, services, decided_by="Mara")
    poll(page)
    expect(_row(page, queue[1])).to_contain_text("Rejected")

    expect(page.locator(".tabs [aria-current] .count")).to_have_text("2")
    expect(page.locator(".row")).to_have_count(4)


def test_news_arrive_without_moving_the_row_under_the_hand(services, queue, quiet_page):
    page = ready(quiet_page())
    press(page, "j", opens=1)
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
    expect(words(page)).to_have_text("Comment number 1")


def test_a_phone_clears_its_list_by_swipes(services, queue, quiet_page):
    page = ready(quiet_page(**PHONE))

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
    assert rulings(services, [one.id for one in queue]) == [Ruling.APPROVE, None, None, None]
    assert page.url.endswith("/review")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_a_phone_swipes_through_opened_comments(services, queue, quiet_page):
    page = quiet_page(**PHONE)

    _row(page, queue[0]).locator("a").tap()
    expect(words(page)).to_have_text("Comment number 0")
    ready(page)
    _swipe(page, page.locator("#opened .scroll"), (-150, 4))
    expect(words(page)).to_have_text("Comment number 1")

    expect(page.locator(".done")).to_contain_text("Rejected.")
    wait_until_sent(page)
    assert services.cases.get(queue[0].id).decision.ruling is Ruling.REJECT
    assert page.evaluate("document.querySelector('.tabs').getBoundingClientRect().height") < 60


def test_the_list_goes_on_and_is_found_again_where_it_was_left(services, quiet_page):
    kept = keep_queue(services, PAGE_SIZE * 2 + 3)
    page = quiet_page()

    far = _row(page, kept[-1])
    for shown in (PAGE_SIZE, PAGE_SIZE * 2):
        expect(page.locator(".row")).to_have_count(shown)
        page.locator(".list").evaluate("list => { list.scrollTop = list.scrollHeight; }")
    expect(far).to_be_visible()
    far.locator("a").first.click()
    expect(words(page)).to_have_text(f"Comment number {len(kept) - 1}")
    page.goto("/password")
    page.go_back()

    expect(page.locator(".row")).to_have_count(len(kept))
    expect(words(page)).to_have_text(f"Comment number {len(kept) - 1}")
    expect(far).to_be_in_viewport()
    assert not re.search("cursor=", page.url)


@pytest.mark.parametrize("by_keys", [True, False], ids=["keys", "mouse"])
def test_selected_comments_are_rejected_in_one_bulk_decision_and_undone(
    services, queue, quiet_page, by_keys
):
    page = ready(quiet_page())

    if by_keys:
        page.keyboard.press("x")
        press(page, "j", opens=1)
        page.keyboard.press("x")
        expect(page.locator(".selection .n")).to_have_text("2 selected")
        page.keyboard.press("Shift+R")
    else:
        for tick in page.locator(".tick").all()[:2]:
            tick.click()
        expect(page.locator(".selection .n")).to_have_text("2 selected")
        page.locator(".selection .rejects").click()
    expect(page.locator(".done")).to_contain_text("2 comments rejected")
    rejected = rulings(services, [one.id for one in queue])
    page.locator(".done button").click()
    expect(page.locator(".row")).to_have_count(4)

    assert rejected == [Ruling.REJECT] * 2 + [None] * 2
    assert rulings(services, [one.id for one in queue]) == [None] * 4


def test_what_was_decided_and_where_one_stands_is_announced(queue, open_page):
    page = ready(open_page(locale="de").page)

    page.keyboard.press("j")
    expect(page.locator("#spoken")).to_have_text("Kommentar 2 von 4")
    page.keyboard.press("a")
    expect(page.locator("[data-part=done]")).to_contain_text("Freigegeben.")

    # Only a live region is spoken without being gone to.
    for region in ("#spoken", "[data-part=done]"):
        assert page.locator(region).get_attribute("role") == "status"
    assert page.locator("[data-part=done]").evaluate("e => e.getClientRects().length") > 0
