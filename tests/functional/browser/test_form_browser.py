"""The form's script in a real browser: no way of writing is held against anybody."""

from __future__ import annotations

import pytest

from service.domain.form import FormToken
from tests.functional.browser.form_sessions import (
    Box,
    dictates,
    has_no_script,
    pastes,
    run,
    solves_headless,
    types,
)

MOST_FOR_ACCESSIBLE = 0.5


@pytest.fixture
def box(browser, address, services):
    made = Box(browser, address, services)
    yield made
    made.close()


def test_no_way_of_writing_earns_more_than_a_half_and_a_program_is_seen(box):
    # From the second on it is a site whose forms have the script: whoever has none is without it.
    ways = (types, pastes, dictates, has_no_script)
    earned = [run(session, box, number) for number, session in enumerate(ways)]
    program = run(solves_headless, box, len(ways))

    assert [one for one in earned if one.log_odds > MOST_FOR_ACCESSIBLE] == []
    wrong = {FormToken.REPLAYED, FormToken.FORGED, FormToken.ELSEWHERE}
    assert {one.token for one in earned} & wrong == set()
    assert program.signals.keys() == {"nothing_typed", "driven_browser"}


def test_a_page_that_stays_asks_for_a_new_token_once_its_box_is_empty(box):
    context, page = box.open()
    page.evaluate(
        """() => document.querySelector("form").addEventListener("submit", async (event) => {
            event.preventDefault();
            const form = event.target;
            await fetch(form.action, { method: "POST", body: new FormData(form) });
            form.reset();
            document.title = "sent";
        })"""
    )
    for text in ("The first of two comments.", "The second of two comments."):
        page.get_by_label("Comment").click()
        page.keyboard.type(text)
        box.wait(20.0)
        page.wait_for_timeout(700)
        page.get_by_role("button", name="Send").click()
        page.wait_for_function("document.title === 'sent'")
        page.evaluate("document.title = ''")

        assert box.newest().token in {FormToken.VALID, FormToken.UNSOLVED}
    context.close()


def test_nobody_is_asked_for_anything_before_the_form_is_touched_and_nothing_is_kept(box):
    context, page = box.open()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.mouse.wheel(0, 500)
    page.wait_for_timeout(300)
    assert asked == []

    with page.expect_response("**/form-token*"):
        page.get_by_label("Comment").click()

    kept = page.evaluate(
        "async () => [document.cookie, localStorage.length, sessionStorage.length,"
        " (await indexedDB.databases()).length]"
    )
    assert kept == ["", 0, 0, 0]
    assert context.cookies() == []
    context.close()
