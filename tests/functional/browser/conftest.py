"""A real browser, and a server over SQLite for it to look at."""

import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, expect, sync_playwright

from service.domain.comment import Comment
from service.ports.services import Services
from tests.factories import NOW, make_comment
from tests.fakes import make_services
from tests.functional.moderators import add_moderator, keep, make_app, sign_in, that_learn
from tests.functional.serving import serving

# What is awaited comes later on a busy machine than the five seconds that Playwright grants.
expect.set_options(timeout=30_000)

_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


_ALL_SENT = "() => !Object.keys(sessionStorage).some((name) => name.startsWith('unsent '))"


def ready(page: Page) -> Page:
    """Return the page once its script has begun."""
    expect(page.locator("html[data-ready]")).to_be_attached()
    return page


def wait_until_sent(page: Page) -> None:
    """Return once the server has answered every ruling that the page keeps until then."""
    page.wait_for_function(_ALL_SENT)


def poll(page: Page) -> None:
    """Let the page ask at once what it asks every 15 seconds."""
    with page.expect_response("**/review/counts*"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def words(page: Page) -> Locator:
    """Return where the opened comment's text begins."""
    return page.locator("#opened .words").first


def press(page: Page, key: str, *, opens: int) -> None:
    """Press a key; return once it has opened the comment of this number."""
    page.keyboard.press(key)
    expect(words(page)).to_have_text(f"Comment number {opens}")


def keep_queue(services: Services, size: int) -> list[Comment]:
    """Keep unsure comments, oldest first."""
    comments = [
        make_comment(f"Comment number {n}", received_at=NOW - timedelta(minutes=400 - n))
        for n in range(size)
    ]
    return [keep(services, comment, promo_spans=(), signals=()) for comment in comments]


class Watched:
    """A page together with everything on it that should not have happened."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("dialog", self._on_dialog)
        page.on("request", self._on_request)

    def _on_console(self, message) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def _on_dialog(self, dialog) -> None:
        if dialog.type == "beforeunload":
            dialog.accept()
            return
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _on_request(self, request) -> None:
        if not request.url.startswith("http://127.0.0.1:"):
            self.complaints.append(f"request: {request.url}")


# While it runs, Playwright keeps an event loop running in this thread: a test that needs a loop of
# its own starts it in another one.
@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Return the system's Chromium; its profile is fresh and gone afterwards."""
    executable = shutil.which("chromium")
    assert executable, "these tests need Chromium: apt-get install chromium"
    started = playwright.chromium.launch(executable_path=executable, args=list(_ARGUMENTS))
    yield started
    started.close()


@pytest.fixture
def services() -> Services:
    made = that_learn(make_services())
    add_moderator(made)
    return made


@pytest.fixture
def address(services: Services) -> Iterator[str]:
    """Return where a production server serves the application."""
    with serving(make_app(services)) as (host, port):
        yield f"http://{host}:{port}"


@pytest.fixture
def open_page(browser: Browser, services: Services, address: str) -> Iterator[object]:
    """Return a function that opens the queue in a new window, signed in."""
    contexts = []
    client = make_app(services).test_client()
    sign_in(client)
    session = {"name": "slopsieve", "value": client.get_cookie("slopsieve").value, "url": address}

    def open_signed_in(path: str = "/review", **options: object) -> Watched:
        options = {"viewport": {"width": 1280, "height": 800}} | options
        context = browser.new_context(base_url=address, **options)
        contexts.append(context)
        context.add_cookies([session])
        watched = Watched(context.new_page())
        watched.page.goto(path)
        return watched

    yield open_signed_in
    for context in contexts:
        context.close()


@pytest.fixture
def quiet_page(open_page: Callable[..., Watched]) -> Iterator[object]:
    """Return a function that opens a page and fails on unexpected requests and messages."""
    opened = []

    def open_quiet(*path: str, **options: object) -> Page:
        opened.append(open_page(*path, **options))
        return opened[-1].page

    yield open_quiet
    assert [one.complaints for one in opened if one.complaints] == []
