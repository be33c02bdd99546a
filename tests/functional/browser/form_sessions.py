"""People and programs who fill in a comment form, in a real browser, with what each earns.

The page is a static site's at an origin of its own, with the form and the tag of `PLATFORMS.md`.
The service's clock is moved on by what a person takes. A person's browser does not say that it is
driven; the one of these tests would, so it is told not to, but for programs that let it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import Browser, BrowserContext, Page

from service.domain.case import Case
from service.domain.delivery import Platform
from service.domain.form import FormToken
from service.ports.services import Services
from service.scoring.weights import SET_WEIGHTS, Family
from service.web.webhooks.public import script_integrity
from tests.functional.moderators import set_site
from tests.functional.webhooks.conftest import add_hook, all_cases

# Of `localhost` browsers believe that it is secure, so that a page there can solve a challenge.
_BLOG_HOST = "localhost"
_PATH = "/radiators/"
HOOK = "hook_box"
_WORDS = (
    "Same noise here, and it went on for three winters. What helped was to close all valves, open "
    "the lowest one and wait for an hour. The plumber blamed the boiler, then the pump, and me."
)
_FORM = """<!doctype html><html lang="en"><title>Bleeding a radiator</title>
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


def _blog(html: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Blog(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = html().encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Blog


@dataclass(frozen=True, kw_only=True)
class Earned:
    """What a session's comment earned by its form alone, in log-odds, and by which signals."""

    log_odds: float
    signals: Mapping[str, float]
    token: FormToken | None


class Box:
    """A blog's comment box in a browser, and the services behind it."""

    def __init__(
        self, browser: Browser, address: str, services: Services, *, page_html: str = _FORM
    ) -> None:
        self._page_html = page_html
        # Of an address that only a test makes up, browsers ask nothing of this machine.
        self._listener = ThreadingHTTPServer(("127.0.0.1", 0), _blog(lambda: self._html()))
        threading.Thread(target=self._listener.serve_forever, daemon=True).start()
        self.blog = f"http://{_BLOG_HOST}:{self._listener.server_port}"
        self.page = self.blog + _PATH
        set_site(services, blog=self.blog, public_feed=True)
        add_hook(services, Platform.STATIC_FORM, id=HOOK, secret="")
        self.browser, self.address, self.services = browser, address, services
        self.hook = f"{address}/hooks/{HOOK}"
        self._contexts: list[BrowserContext] = []

    def open(self, *, says_driven: bool = False, **options: object) -> tuple[BrowserContext, Page]:
        """Return the blog's page in a window of its own."""
        context = self.browser.new_context(**options)
        self._contexts.append(context)
        says = str(says_driven).lower()
        context.add_init_script(
            f"Object.defineProperty(navigator, 'webdriver', {{get: () => {says}}})"
        )
        page = context.new_page()
        page.goto(self.page)
        return context, page

    def close(self) -> None:
        """End the blog and close its windows."""
        for context in self._contexts:
            context.close()
        self._listener.shutdown()
        self._listener.server_close()

    def wait(self, seconds: float) -> None:
        """Let so much time pass by the service's clock; the limits' minute is a real one."""
        self.services.clock.advance(seconds=seconds)

    def newest_id(self) -> str | None:
        """Return the last comment's id, None where there is none."""
        newest = self._newest()
        return newest.comment.id if newest else None

    def newest(self) -> Earned:
        """Return what the last comment earned."""
        case = self._newest()
        assert case is not None
        assert case.verdict is not None
        signals = {
            one.signal.name: one.contribution
            for one in case.verdict.signals
            if one.signal.name in SET_WEIGHTS and SET_WEIGHTS[one.signal.name].family is Family.FORM
        }
        return Earned(
            log_odds=sum(signals.values()), signals=signals, token=case.comment.form.token
        )

    def _newest(self) -> Case | None:
        return max(all_cases(self.services), key=lambda one: one.comment.id, default=None)

    def _html(self) -> str:
        values = {
            "address": self.address,
            "hook": HOOK,
            "integrity": script_integrity(),
            "page": self.page,
            "paragraphs": "<p>Turn the pump off first.</p>" * 40,
        }
        html = self._page_html
        for name, value in values.items():
            html = html.replace(f"{{{name}}}", value)
        return html


# Whether what the page's script would send now has a solution. An event that a script makes sends
# nothing, but after it an empty box would be one for another comment.
_SOLVED = """() => {
  const form = document.querySelector("form"), box = form.querySelector("textarea");
  const said = box.value;
  box.value = said || "x";
  form.dispatchEvent(new Event("submit"));
  box.value = said;
  return "solution" in JSON.parse(atob(form.elements.slopsieve_form.value));
}"""


def _solved(page: Page) -> None:
    """Give the page's script the time that any person would."""
    page.wait_for_function(_SOLVED)


def types(box: Box, text: str) -> None:
    """Clicks, types, corrects a letter, sends."""
    context, page = box.open()
    page.mouse.wheel(0, 900)
    page.get_by_label("Name").click()
    page.keyboard.type("Mara")
    page.get_by_label("Comment").click()
    page.keyboard.type(text + "x")
    page.keyboard.press("Backspace")
    _solved(page)
    box.wait(len(text) / 9)
    with page.expect_navigation():
        page.get_by_role("button", name="Send").click()
    context.close()


def pastes(box: Box, text: str) -> None:
    """Pastes what was written in an editor, and sends by keys within seconds."""
    context, page = box.open(permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.get_by_label("Comment").focus()
    page.keyboard.press("Control+V")
    assert page.get_by_label("Comment").input_value() == text
    _solved(page)
    box.wait(1.2)
    with page.expect_navigation():
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
    context.close()


def dictates(box: Box, text: str) -> None:
    """Speaks; the words come in phrases, and no key is pressed."""
    context, page = box.open()
    page.get_by_label("Comment").focus()
    for phrase in text.split(", "):
        page.keyboard.insert_text(f"{phrase}, ")
    _solved(page)
    box.wait(len(text) / 15)
    with page.expect_navigation():
        page.evaluate("document.querySelector('form').requestSubmit()")
    context.close()


def has_no_script(box: Box, text: str) -> None:
    """Has scripts switched off."""
    context, page = box.open(java_script_enabled=False)
    page.get_by_label("Comment").click()
    page.keyboard.type(text)
    box.wait(len(text) / 9)
    with page.expect_navigation():
        page.get_by_role("button", name="Send").click()
    context.close()


def solves_headless(box: Box, text: str) -> None:
    """Lets a browser solve the challenge, puts the text in by script and sends."""
    context, page = box.open(says_driven=True)
    page.evaluate("document.querySelector('[name=text]').focus()")
    _solved(page)
    with page.expect_navigation():
        page.evaluate(
            "text => { const form = document.querySelector('form'); form.text.value = text;"
            " form.requestSubmit(); }",
            text,
        )
    context.close()


def run(session: Callable[[Box, str], None], box: Box, number: int) -> Earned:
    """Return what a session earned; its text is sent by no other, as that would be a repeat."""
    before = box.newest_id()
    session(box, f"{_WORDS} House {number}.")
    # The thread that answered has kept the comment before it thanked for it.
    assert box.newest_id() != before, "nothing was kept"
    return box.newest()
