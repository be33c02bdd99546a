"""Fast hands, bad connections: what was decided is sent in order, once, or told."""

import time

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.moderation.decisions import decide_comment
from tests.functional.browser.conftest import keep_queue, poll, press, ready, words
from tests.functional.moderators import PASSWORD, add_moderator, make_app
from tests.functional.serving import serving

KEYS = "arraraaraa"
RULED = [{"a": "approve", "r": "reject"}[key] for key in KEYS]


AWAY, BAD_GATEWAY, DROPPED, HANGS = "503 Away", "502 Bad Gateway", "dropped", "hangs"


class Faults:
    """Faults between the browser and the application, by the number of a POST from 0 on, or a path.

    What is dropped or hangs is served; its answer never arrives whole, or comes too late.
    """

    def __init__(self):
        self.plan = lambda _number: None
        self.others = lambda _path: None
        self.posts = 0

    def put_before(self, app):
        inner = app.wsgi_app

        def faulty(environ, start_response):
            fault = self._fault(environ["REQUEST_METHOD"], environ["PATH_INFO"])
            if fault in {AWAY, BAD_GATEWAY}:
                start_response(fault, [("Content-Type", "text/html"), ("Content-Length", "4")])
                return [b"Away"]
            if fault == DROPPED:
                b"".join(inner(environ, lambda *_: None))
                start_response("200 OK", [("Content-Length", "1000")])
                return _breaking_off()
            served = inner(environ, start_response)
            if fault == HANGS:
                served = list(served)
                time.sleep(11)
            return served

        app.wsgi_app = faulty
        return app

    def _fault(self, method, path):
        if method != "POST":
            return self.others(path)
        if not path.endswith(("/decision", "/undo", "/skip")):
            return None
        self.posts += 1
        return self.plan(self.posts - 1)


def _breaking_off():
    yield b"half an ans"
    raise ConnectionError


@pytest.fixture
def faults():
    return Faults()


@pytest.fixture
def address(services, faults):
    """Return where the application is served behind faults."""
    with serving(faults.put_before(make_app(services)), threads=8) as (host, port):
        yield f"http://{host}:{port}"


@pytest.fixture
def queue(services):
    """Thirteen unsure comments, oldest first."""
    return keep_queue(services, 13)


def _type(page, keys=KEYS, every_ms=20):
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(every_ms)


def _sign_in(page, name):
    page.goto("/sign-in")
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/review")


def _sending(page):
    return page.locator(".sending")


def _log(services):
    """Return the rulings in order, each with its comment and moderator."""
    entries = reversed(services.audit_log.recent())
    acts = {"approve", "reject", "undo"}
    return [(one.actor, one.act, one.subject) for one in entries if one.act in acts]


def _expected(queue, keys=RULED):
    return [("Ola", ruling, one.id) for ruling, one in zip(keys, queue, strict=False)]


def test_they_are_as_many_while_the_server_fails_midway_and_a_colleague_decides_three(
    services, queue, open_page, faults
):
    page = ready(open_page().page)
    planned = {2: AWAY, 3: AWAY, 5: DROPPED, 7: BAD_GATEWAY, 9: DROPPED, 10: AWAY}
    faults.plan = planned.get
    # What others do is kept from the page, as on a bad connection.
    page.route("**/review/counts*", lambda route: route.abort())
    page.reload()
    expect(words(page)).to_have_text("Comment number 0")
    theirs = {1: Ruling.APPROVE, 4: Ruling.APPROVE, 7: Ruling.APPROVE}
    _type(page, KEYS[:1])
    # By then the page holds all of the others.
    page.wait_for_timeout(2_000)
    for number, ruling in theirs.items():
        decide_comment(queue[number].id, ruling, services, decided_by="Mara")

    _type(page, "r" * 9)

    expect(page.locator(".refused .conflict")).to_have_count(3, timeout=30_000)
    expect(page.locator(".refused")).to_contain_text("Mara approved this comment")
    expect(_sending(page)).to_have_text("")
    ours = [entry for entry in _log(services) if entry[0] == "Ola"]
    free = [one for n, one in enumerate(queue[:10]) if n not in theirs]
    assert ours == _expected(free, ["approve", *["reject"] * 6])
    assert [services.cases.get(queue[n].id).decision.decided_by for n in theirs] == ["Mara"] * 3
    assert [len(services.cases.get(one.id).decisions) for one in queue[:10]] == [1] * 10
    refused = {page.locator(".row").nth(n).get_attribute("data-id") for n in range(3)}
    assert refused == {queue[n].id for n in theirs}


def test_offline_they_wait_are_counted_and_announced_and_leave_in_order(services, queue, open_page):
    page = ready(open_page().page)
    _type(page, KEYS[:3])
    expect(words(page)).to_have_text("Comment number 3")
    page.wait_for_timeout(700)

    page.context.set_offline(True)
    _type(page, KEYS[3:])
    expect(_sending(page)).to_contain_text("not sent: offline, will be sent")
    expect(page.locator("#spoken")).to_contain_text("cannot be sent at the moment. It is kept")
    page.wait_for_timeout(2_000)
    before = _log(services)
    page.context.set_offline(False)
    expect(words(page)).to_have_text("Comment number 10")
    expect(_sending(page)).to_have_text("", timeout=20_000)
    expect(page.locator("#spoken")).to_contain_text("Everything is sent.")

    assert len(before) == 3
    assert _log(services) == _expected(queue)


def test_a_reload_loses_nothing_that_was_not_sent(services, queue, open_page, faults):
    asked = []
    page = ready(open_page().page)
    faults.plan = lambda _number: AWAY
    page.keyboard.press("n")
    page.keyboard.type("half a secret")
    page.keyboard.press("Escape")
    _type(page, "ar")
    expect(_sending(page)).to_contain_text("2 not sent: the server is away")

    stored = page.evaluate("JSON.stringify(Object.values(window.sessionStorage))")
    page.once("dialog", lambda dialog: asked.append(dialog.type))
    page.reload()
    expect(page.locator(".done")).to_contain_text("sent without their notes")
    expect(words(page)).to_have_text("Comment number 2")
    faults.plan = lambda _number: None
    expect(_sending(page)).to_have_text("", timeout=20_000)

    assert asked == ["beforeunload"]
    assert "Comment number" not in stored
    assert "secret" not in stored
    assert _log(services) == _expected(queue, ["approve", "reject"])


def test_who_is_signed_out_is_told_and_what_they_decided_is_sent_when_they_are_back(
    services, queue, open_page
):
    page = ready(open_page().page)
    # The next comments are there by then.
    page.wait_for_timeout(1_000)
    page.context.clear_cookies()

    _type(page, "ra")
    expect(_sending(page)).to_contain_text("2 not sent: you are signed out")
    _sign_in(page, "Ola")
    expect(words(page)).to_have_text("Comment number 2")
    expect(_sending(page)).to_have_text("", timeout=20_000)

    assert _log(services) == _expected(queue, ["reject", "approve"])


def test_nothing_is_sent_in_the_name_of_who_signs_in_instead(services, queue, open_page):
    add_moderator(services, "Mara")
    page = ready(open_page().page)
    page.wait_for_timeout(1_000)
    page.context.clear_cookies()
    _sign_in(page.context.new_page(), "Mara")

    _type(page, "ra")

    expect(_sending(page)).to_contain_text("2 not sent: you are signed out")
    page.wait_for_timeout(1_500)
    assert _log(services) == []


def test_an_answer_that_never_comes_is_said_and_then_the_truth(services, queue, open_page, faults):
    page = ready(open_page().page)
    faults.plan = {0: HANGS}.get

    press(page, "r", opens=1)
    expect(_sending(page)).to_have_text("1 being sent")
    expect(_sending(page)).to_have_text("1 may have been changed: looking…", timeout=13_000)
    expect(page.locator(".done")).to_contain_text("Rejected.")
    expect(_sending(page)).to_have_text("")

    assert _log(services) == _expected(queue, ["reject"])


def test_u_after_a_reload_takes_back_the_last_decision_until_there_is_none(
    services, queue, open_page
):
    page = ready(open_page().page)
    _type(page, "ar")
    expect(_sending(page)).to_have_text("")
    expect(page.locator(".done")).to_contain_text("Rejected.")
    page.goto("/review")
    ready(page)

    press(page, "u", opens=1)
    expect(page.locator(".done")).to_contain_text("Undone.")
    press(page, "u", opens=0)
    expect(_sending(page)).to_have_text("")
    page.keyboard.press("u")
    expect(page.locator(".done")).to_contain_text("Nothing to undo")

    assert not any(services.cases.get(one.id).decision for one in queue)


def test_an_open_comment_says_that_a_colleague_has_decided_it(services, queue, open_page):
    page = ready(open_page().page)
    page.keyboard.press("n")
    page.keyboard.type("half a note")

    decide_comment(queue[0].id, Ruling.REJECT, services, decided_by="Mara")
    poll(page)

    expect(page.locator("#opened .conflict")).to_contain_text("Mara rejected this comment")
    expect(page.locator("#opened .act")).to_contain_text("The site rejects it.")
    expect(page.locator("#note")).to_have_value("half a note")


def test_single_keys_can_be_switched_off(services, queue, open_page):
    page = ready(open_page().page)
    page.keyboard.press("?")
    page.get_by_label("Single keys work in this browser").uncheck()
    page.keyboard.press("Escape")

    _type(page, "ar?")
    page.reload()
    _type(page, "ar?")

    expect(page.locator("dialog.help")).to_be_hidden()
    expect(words(page)).to_have_text("Comment number 0")
    assert _log(services) == []


def test_keys_that_wait_too_long_for_a_comment_are_not_used_and_counted(
    services, queue, open_page, faults
):
    faults.others = lambda path: AWAY if path == "/review/prefetch" else None
    page = open_page().page
    page.clock.install()
    page.reload()
    ready(page)

    _type(page, "arr")
    expect(page.locator("#opened")).to_contain_text("did not send the next comment")
    page.clock.fast_forward(11_000)
    expect(page.locator(".done")).to_contain_text("2 keys were typed before", timeout=20_000)
    faults.others = lambda _path: None

    expect(words(page)).to_have_text("Comment number 1", timeout=20_000)
    assert _log(services) == _expected(queue, ["approve"])
