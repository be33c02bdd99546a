"""A static site's comment box in a real browser, on another origin than the service.

A person's browser does not say that it is driven; the one of these tests would, so it is told not
to, but for programs that let it. The service's clock is moved on by what a person takes.
"""

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import expect

from models.inputs import ModelOutput
from service.domain.comment import Author, Post
from service.domain.decision import Ruling
from service.domain.delivery import Platform
from service.domain.form import FormToken
from service.domain.verdict import Outcome
from service.moderation.decisions import decide_comment
from service.moderation.published import PAGE
from service.scoring.weights import SET_WEIGHTS, Family
from service.web.webhooks.public import script_integrity
from tests.factories import NOW, keep_one
from tests.fakes import make_services
from tests.functional.browser.conftest import Watched
from tests.functional.hostile import HOSTILE
from tests.functional.moderators import set_site
from tests.functional.serving import serving
from tests.functional.webhooks.conftest import add_hook, all_cases

HOOK = "hook_box"
WORDS = (
    "Same noise here, and it went on for three winters. What helped was to close all valves, open "
    "the lowest one and wait for an hour. The plumber blamed the boiler, then the pump, and me."
)
FORM = """<!doctype html><html lang="en"><title>Bleeding a radiator</title>
<script src="{address}/public/{hook}/form.js" integrity="{integrity}" crossorigin async></script>
<h1>Bleeding a radiator</h1>{paragraphs}
<form method="post" action="{address}/hooks/{hook}">
<input type="hidden" name="post_url" value="{page}">
<label>Name <input name="name" autocomplete="name"></label>
<label>E-mail <input name="email" type="email" autocomplete="email"></label>
<label>Comment <textarea name="text" rows="6" cols="60" required></textarea></label>
<p hidden><label>Leave this empty
<input name="homepage" tabindex="-1" autocomplete="off"></label></p>
<button>Send</button></form></html>"""
EXAMPLES = Path(__file__).parents[3] / "service" / "web" / "webhooks" / "examples"
OWN_FORM = """<!doctype html><html lang="en"><title>Bleeding a radiator</title>
<h1>Bleeding a radiator</h1>
<ol class="slopsieve-comments"><li>As old as the build.</li></ol>
<script src="{address}/public/{hook}/form.js" integrity="{integrity}" crossorigin async
data-comments></script>
<form method="post" action="{address}/hooks/{hook}">
<input type="hidden" name="post_url" value="{page}">
<label>Your remark <textarea name="message" rows="6" required></textarea></label>
<button>Off it goes</button></form></html>"""
WAITS = "Your comment was received. A moderator may check it before it is shown."
WHY = "Status of your comment"
SHOWN = "Thank you. Your comment is shown here."


class Box:
    """A blog's page with a comment box, in windows of its own."""

    def __init__(self, browser, services, html, *, address, blog):
        self.page, self.hook = f"{blog}/radiators/", f"{address}/hooks/{HOOK}"
        values = {
            "address": address,
            "hook": HOOK,
            "integrity": script_integrity(),
            "page": self.page,
            "paragraphs": "<p>Turn the pump off first.</p>" * 40,
        }
        for name, value in values.items():
            html = html.replace(f"{{{name}}}", value)
        set_site(services, blog=blog, public_feed=True)
        add_hook(services, Platform.STATIC_FORM, id=HOOK, secret="")
        self.browser, self.html = browser, html

    def open(self, *, says_driven=False, **options):
        context = self.browser.new_context(**options)
        says = str(says_driven).lower()
        context.add_init_script(
            f"Object.defineProperty(navigator, 'webdriver', {{get: () => {says}}})"
        )
        page = context.new_page()
        page.goto(self.page)
        return context, page


def newest(services):
    """Return the last comment, or None."""
    return max(all_cases(services), key=lambda one: one.comment.id, default=None)


def one_line() -> str:
    """Return the bare example with what its owner has to fill in."""
    html = (EXAMPLES / "bare.html").read_text("utf-8")
    page = "https://blog.example/radiators/"
    assert html.count(page) == 2
    return (
        html.replace(page, "{page}")
        .replace("https://slopsieve.example", "{address}")
        .replace("hook_01", HOOK)
    )


@pytest.fixture
def services(classifier):
    return make_services(classifier=classifier)


@pytest.fixture
def make_box(browser, address, services):
    """Return a function that makes a blog of one page, by default of one line."""
    with ExitStack() as ends:

        def make(html=None):
            app = Flask("blog")
            _, port = ends.enter_context(serving(app))
            # Of `localhost` browsers believe that it is secure: a page there solves challenges.
            blog = f"http://localhost:{port}"
            box = Box(browser, services, html or one_line(), address=address, blog=blog)
            app.add_url_rule("/<path:_>", view_func=lambda _: box.html)
            return box

        yield make
        for context in browser.contexts:
            context.close()


def keep(services, box, text="Hi.", **changes):
    """Keep a comment that is shown under the page."""
    return keep_one(services, Outcome.HAM, text=text, **({"post": Post(url=box.page)} | changes))


def complaints(watched, box):
    """Return the unexpected requests and messages; the request for the page itself is expected."""
    return [one for one in watched.complaints if one != f"request: {box.page}"]


def write(page, text):
    page.get_by_label("Comment").press_sequentially(text)
    page.get_by_role("button", name="Send").click()


def test_a_comment_is_posted_held_approved_and_shown(make_box, classifier, services):
    classifier.answer = ModelOutput(p_spam=0.5)
    box = make_box()
    context, page = box.open()
    watched = Watched(page)

    page.get_by_label("Name").fill("Mara")
    write(page, "The drain valve was stuck.\n\nHere too.")

    expect(page.get_by_role("status")).to_have_text(f"{WAITS} {WHY}")
    statement = page.get_by_role("link", name=WHY).get_attribute("href")
    assert context.request.get(statement).ok
    expect(page.get_by_label("Comment")).to_have_value("")
    expect(page.locator(".slopsieve-comments li")).to_have_count(0)
    decide_comment(newest(services).comment.id, Ruling.APPROVE, services, decided_by="ada")
    # What lay in a cache for a minute would be as it was.
    context.close()
    context, page = box.open()
    shown = page.locator(".slopsieve-comments li")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("Mara")
    expect(shown).to_contain_text("Here too.")
    assert complaints(watched, box) == []


def test_an_own_form_is_served_too_and_what_a_build_left_gives_way(make_box, classifier, services):
    classifier.answer = ModelOutput(p_spam=0.01)
    box = make_box(OWN_FORM)
    _, page = box.open()
    expect(page.get_by_text("As old as the build.")).to_have_count(0)

    page.get_by_label("Your remark").fill("Ours has no bleed screw at all.")
    page.get_by_role("button", name="Off it goes").click()

    expect(page.get_by_role("status")).to_have_text(SHOWN, timeout=15_000)
    expect(page.locator("form")).to_have_count(1)


def test_what_is_said_is_about_the_last_comment(make_box, classifier):
    classifier.answer = ModelOutput(p_spam=0.01)
    box = make_box()
    _, page = box.open()
    write(page, "Ours has no bleed screw at all.")
    expect(page.get_by_label("Comment")).to_have_value("")
    classifier.answer = ModelOutput(p_spam=0.5)

    write(page, "The drain valve was stuck.")

    expect(page.get_by_role("status")).to_have_text(f"{WAITS} {WHY}")
    expect(page.locator(".slopsieve-comments li")).to_have_count(1)
    page.wait_for_timeout(4_500)
    expect(page.get_by_role("status")).to_have_text(f"{WAITS} {WHY}")


def test_without_a_public_feed_there_is_the_form_alone(make_box, services):
    box = make_box(OWN_FORM)
    set_site(services, public_feed=False)
    keep(services, box)

    _, page = box.open()

    expect(page.locator(".slopsieve")).to_have_count(1)
    expect(page.get_by_text("As old as the build.")).to_be_visible()
    page.get_by_label("Your remark").fill("Which floor does one begin on?")
    page.get_by_role("button", name="Off it goes").click()
    expect(page.get_by_role("status")).to_have_text(f"{WAITS} {WHY}")


def test_answers_stand_below_what_they_answer_and_one_is_written(make_box, classifier, services):
    classifier.answer = ModelOutput(p_spam=0.01)
    box = make_box()
    above = None
    for depth in range(8):
        at = NOW - timedelta(days=9 - depth)
        above = keep(services, box, f"Depth {depth}.", received_at=at, reply_to=above)
    _, page = box.open()
    expect(page.locator(".slopsieve-comments li")).to_have_count(8)
    assert page.locator("ol ol ol ol li").count() == 5
    assert page.locator("ol ol ol ol ol").count() == 0

    page.get_by_role("button", name="Reply to Mara").first.click()
    expect(page.get_by_label("Comment")).to_be_focused()
    write(page, "To the first.")

    expect(page.get_by_role("status")).to_have_text(SHOWN, timeout=15_000)
    first = page.locator(".slopsieve-comments > li")
    expect(first).to_have_count(1)
    expect(first.locator("> ol > li").last).to_contain_text("To the first.")


def test_long_threads_come_in_pages_and_dates_in_the_page_s_language(make_box, services):
    box = make_box(one_line().replace('lang="en"', 'lang="de"'))
    for number in range(PAGE + 1):
        keep(services, box, f"Number {number}.", received_at=NOW - timedelta(hours=300 - number))
    _, page = box.open()
    expect(page.locator(".slopsieve-comments li")).to_have_count(PAGE)
    expect(page.locator("time").first).to_have_text("17. Februar 2026")

    page.get_by_role("button", name="Weitere Kommentare").click()

    expect(page.locator(".slopsieve-comments li")).to_have_count(PAGE + 1)
    expect(page.get_by_role("button", name="Weitere Kommentare")).to_be_hidden()
    expect(page.get_by_label("Kommentar")).to_be_visible()


def test_a_link_to_a_comment_of_a_later_page_leads_to_it(make_box, services):
    box = make_box()
    for number in range(1, 2 * PAGE + 2):
        keep(services, box, id=f"com_{number}", received_at=NOW - timedelta(hours=500 - number))
    box.page += f"#com_{PAGE + 5}"
    _, page = box.open()

    expect(page.locator(f"#com_{PAGE + 5}")).to_be_in_viewport()
    expect(page.locator(".slopsieve-comments li")).to_have_count(2 * PAGE)


def test_a_visitor_is_told_why_a_comment_was_refused(make_box):
    box = make_box()
    context, page = box.open()
    page.get_by_label("Comment").evaluate("box => { box.required = false; }")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_contain_text("Comment: Write something")

    page.evaluate(
        """async (hook) => { for (let text = 0; text < 10; text++)
            await fetch(hook, { method: "POST", body: new URLSearchParams({ text }) }); }""",
        box.hook,
    )
    write(page, "Once more.")
    expect(page.get_by_role("status")).to_contain_text("Wait a minute")
    expect(page.get_by_label("Comment")).to_have_value("Once more.")

    context.set_offline(True)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_contain_text("cannot be reached")
    expect(page.get_by_label("Comment")).to_have_value("Once more.")


def test_hostile_words_and_names_are_shown_as_words(make_box, services):
    box = make_box()
    for text in HOSTILE.values():
        keep(services, box, text, author=Author(name=text[:300], url=text[:2_000]))
    _, page = box.open()
    watched = Watched(page)

    page.reload()

    shown = page.locator(".slopsieve-comments li")
    expect(shown).to_have_count(len(HOSTILE))
    elements = page.evaluate(
        "[...new Set([...document.querySelectorAll('.slopsieve-comments *')]"
        ".map(one => one.localName))].sort()"
    )
    assert set(elements) <= {"a", "bdi", "button", "div", "li", "ol", "p", "time"}
    links = page.evaluate(
        "[...document.querySelectorAll('.slopsieve-comments a')].map(one => one.protocol)"
    )
    assert set(links) <= {"http:", "https:"}
    said = page.evaluate(
        "[...document.querySelectorAll('.slopsieve-text')].map(one => one.textContent)"
    )
    readable = {text for text in HOSTILE.values() if text.isprintable()}
    assert readable <= set(said)
    assert complaints(watched, box) == []


# Whether what the page's script would send now has a solution. An event that a script makes sends
# nothing, but after it an empty box would be one for another comment.
SOLVED = """() => {
  const form = document.querySelector("form"), box = form.querySelector("textarea");
  const said = box.value;
  box.value = said || "x";
  form.dispatchEvent(new Event("submit"));
  box.value = said;
  return "solution" in JSON.parse(atob(form.elements.slopsieve_form.value));
}"""


def solved(page):
    """Give the page's script the time that any person would."""
    page.wait_for_function(SOLVED)


def types(page, services, text):
    """Clicks, types, corrects a letter, sends."""
    page.mouse.wheel(0, 900)
    page.get_by_label("Name").click()
    page.keyboard.type("Mara")
    page.get_by_label("Comment").click()
    page.keyboard.type(text + "x")
    page.keyboard.press("Backspace")
    solved(page)
    services.clock.advance(seconds=len(text) / 9)
    page.get_by_role("button", name="Send").click()


def pastes(page, services, text):
    """Pastes what was written in an editor, and sends by keys within seconds."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.get_by_label("Comment").focus()
    page.keyboard.press("Control+V")
    assert page.get_by_label("Comment").input_value() == text
    solved(page)
    services.clock.advance(seconds=1.2)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def dictates(page, services, text):
    """Speaks; the words come in phrases, and no key is pressed."""
    page.get_by_label("Comment").focus()
    for phrase in text.split(", "):
        page.keyboard.insert_text(f"{phrase}, ")
    solved(page)
    services.clock.advance(seconds=len(text) / 15)
    page.evaluate("document.querySelector('form').requestSubmit()")


def has_no_script(page, services, text):
    page.get_by_label("Comment").click()
    page.keyboard.type(text)
    services.clock.advance(seconds=len(text) / 9)
    page.get_by_role("button", name="Send").click()


def solves_headless(page, _services, text):
    """Lets a browser solve the challenge, puts the text in by script and sends."""
    page.evaluate("document.querySelector('[name=text]').focus()")
    solved(page)
    page.evaluate(
        "text => { const form = document.querySelector('form'); form.text.value = text;"
        " form.requestSubmit(); }",
        text,
    )


def run(session, box, services, number, **options):
    """Return the form that a session sent. Each has its own text, so that none is a repeat."""
    before = newest(services)
    context, page = box.open(**options)
    with page.expect_navigation():
        session(page, services, f"{WORDS} House {number}.")
    context.close()
    # The thread that answered has kept the comment before it thanked for it.
    made = newest(services)
    assert before is None or before.comment.id != made.comment.id, "nothing was kept"
    return made


def earned(case):
    """Return the contributions of a comment's form, in log-odds, by signal."""
    return {
        one.signal.name: one.contribution
        for one in case.verdict.signals
        if one.signal.name in SET_WEIGHTS and SET_WEIGHTS[one.signal.name].family is Family.FORM
    }


def test_no_way_of_writing_earns_more_than_a_half_and_a_program_is_seen(make_box, services):
    box = make_box(FORM)
    # From the second on it is a site whose forms have the script: whoever has none is without it.
    ways = {
        types: {},
        pastes: {"permissions": ["clipboard-read", "clipboard-write"]},
        dictates: {},
        has_no_script: {"java_script_enabled": False},
    }
    cases = [run(way, box, services, number, **ways[way]) for number, way in enumerate(ways)]
    program = run(solves_headless, box, services, len(ways), says_driven=True)

    assert [one for one in map(earned, cases) if sum(one.values()) > 0.5] == []
    wrong = {FormToken.REPLAYED, FormToken.FORGED, FormToken.ELSEWHERE}
    assert {one.comment.form.token for one in cases} & wrong == set()
    assert earned(program).keys() == {"nothing_typed", "driven_browser"}


def test_a_page_that_stays_asks_for_a_new_token_once_its_box_is_empty(make_box, services):
    _, page = make_box(FORM).open()
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
        services.clock.advance(seconds=20.0)
        page.wait_for_timeout(700)
        page.get_by_role("button", name="Send").click()
        page.wait_for_function("document.title === 'sent'")
        page.evaluate("document.title = ''")

        assert newest(services).comment.form.token in {FormToken.VALID, FormToken.UNSOLVED}


def test_nobody_is_asked_for_anything_before_the_form_is_touched_and_nothing_is_kept(make_box):
    context, page = make_box(FORM).open()
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
