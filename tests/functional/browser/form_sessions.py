"""People and programs who fill in a comment form, in a real browser.

The page is a static site's at an origin of its own, with the form and the tag of `PLATFORMS.md`.
The service's clock is moved on by what a person takes. A person's browser does not say that it is
driven; the one of these tests would, so it is told not to, but for programs that let it.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Browser, BrowserContext, Page

from service.domain.case import Case
from service.domain.delivery import Platform
from service.ports.services import Services
from service.web.webhooks.public import script_integrity
from tests.functional.moderators import set_site
from tests.functional.webhooks.conftest import add_hook, all_cases

HOOK = "hook_box"
_WORDS = (
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


class Box:
    """A blog's comment box in a browser, and the services behind it."""

    def __init__(
        self, browser: Browser, services: Services, html: str, *, address: str, blog: str
    ) -> None:
        self.page = f"{blog}/radiators/"
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
        self.browser, self.html, self.services = browser, html, services
        self.hook = f"{address}/hooks/{HOOK}"

    def open(self, *, says_driven: bool = False, **options: object) -> tuple[BrowserContext, Page]:
        """Return the blog's page in a window of its own."""
        context = self.browser.new_context(**options)
        says = str(says_driven).lower()
        context.add_init_script(
            f"Object.defineProperty(navigator, 'webdriver', {{get: () => {says}}})"
        )
        page = context.new_page()
        page.goto(self.page)
        return context, page

    def wait(self, seconds: float) -> None:
        """Let so much time pass by the service's clock; the limits' minute is a real one."""
        self.services.clock.advance(seconds=seconds)

    def newest(self) -> Case | None:
        """Return the last comment, None where there is none."""
        return max(all_cases(self.services), key=lambda one: one.comment.id, default=None)


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


def types(box: Box, page: Page, text: str) -> None:
    """Clicks, types, corrects a letter, sends."""
    page.mouse.wheel(0, 900)
    page.get_by_label("Name").click()
    page.keyboard.type("Mara")
    page.get_by_label("Comment").click()
    page.keyboard.type(text + "x")
    page.keyboard.press("Backspace")
    _solved(page)
    box.wait(len(text) / 9)
    page.get_by_role("button", name="Send").click()


def pastes(box: Box, page: Page, text: str) -> None:
    """Pastes what was written in an editor, and sends by keys within seconds."""
    page.evaluate("text => navigator.clipboard.writeText(text)", text)
    page.get_by_label("Comment").focus()
    page.keyboard.press("Control+V")
    assert page.get_by_label("Comment").input_value() == text
    _solved(page)
    box.wait(1.2)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def dictates(box: Box, page: Page, text: str) -> None:
    """Speaks; the words come in phrases, and no key is pressed."""
    page.get_by_label("Comment").focus()
    for phrase in text.split(", "):
        page.keyboard.insert_text(f"{phrase}, ")
    _solved(page)
    box.wait(len(text) / 15)
    page.evaluate("document.querySelector('form').requestSubmit()")


def has_no_script(box: Box, page: Page, text: str) -> None:
    """Has scripts switched off."""
    page.get_by_label("Comment").click()
    page.keyboard.type(text)
    box.wait(len(text) / 9)
    page.get_by_role("button", name="Send").click()


def solves_headless(_box: Box, page: Page, text: str) -> None:
    """Lets a browser solve the challenge, puts the text in by script and sends."""
    page.evaluate("document.querySelector('[name=text]').focus()")
    _solved(page)
    page.evaluate(
        "text => { const form = document.querySelector('form'); form.text.value = text;"
        " form.requestSubmit(); }",
        text,
    )


def run(
    session: Callable[[Box, Page, str], None], box: Box, number: int, **options: object
) -> Case:
    """Return what a session sent; its text is sent by no other, as that would be a repeat."""
    before = box.newest()
    context, page = box.open(**options)
    with page.expect_navigation():
        session(box, page, f"{_WORDS} House {number}.")
    context.close()
    # The thread that answered has kept the comment before it thanked for it.
    made = box.newest()
    assert made is not None
    assert before is None or before.comment.id != made.comment.id, "nothing was kept"
    return made
