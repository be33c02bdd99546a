"""The pages as an installed app: a page for offline, nobody's words kept, a number on the sign."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from service.domain.decision import Ruling
from service.moderation.review.decide import decide_comment
from tests.factories import make_comment
from tests.functional.moderators import keep

_KEPT = """async () => {
  const found = {};
  for (const name of await caches.keys()) {
    for (const request of await (await caches.open(name)).keys()) {
      found[new URL(request.url).pathname] = await (await caches.match(request)).text();
    }
  }
  return found;
}"""
_COUNT_BADGES = """
window.badges = [];
Navigator.prototype.setAppBadge = (n) => { window.badges.push(n); return Promise.resolve(); };
Navigator.prototype.clearAppBadge = () => { window.badges.push(0); return Promise.resolve(); };
"""


@pytest.fixture
def installed(services, open_page):
    """Return a page whose service worker is at work, over three comments that wait."""
    for number in range(3):
        keep(services, make_comment(f"Words that nobody keeps {number}"))
    services.review.search.index_due(limit=100)
    watched = open_page()
    watched.page.reload()
    watched.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    watched.page.reload()
    expect(watched.page.locator("html[data-ready]")).to_be_attached()
    return watched


def test_no_word_of_a_comment_is_kept_by_the_browser(installed):
    page = installed.page
    page.goto("/review/search?q=words")
    page.goto("/review")

    kept = page.evaluate(_KEPT)

    assert "/offline" in kept
    assert {path.rpartition("/")[2] for path in kept} == {"offline", "shell.css", "icon.svg"}
    assert not any("nobody keeps" in text or "Ola" in text for text in kept.values())
    assert installed.complaints == []


def test_without_a_connection_there_is_a_page_and_with_one_the_queue_again(installed):
    page = installed.page
    page.context.set_offline(True)

    page.goto("/review")
    expect(page.locator("h1")).to_have_text("Slopsieve cannot be reached")
    painted = page.evaluate("getComputedStyle(document.querySelector('.card')).borderTopWidth")
    page.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()

    expect(page.locator("#opened .words").first).to_contain_text("that nobody keeps")
    assert painted == "4px"
    # The browser itself complains of what it could not load while it was offline.
    assert [one for one in installed.complaints if "ERR_INTERNET_DISCONNECTED" not in one] == []


def test_the_sign_shows_how_many_wait(services, open_page):
    kept = [keep(services, make_comment(f"Comment {number}")) for number in range(3)]
    page = open_page().page
    page.add_init_script(_COUNT_BADGES)
    page.goto("/review")
    expect(page.locator("html[data-live]")).to_be_attached()

    decide_comment(kept[0].id, Ruling.APPROVE, services, decided_by="Mara")

    expect(page.locator("[data-waiting]")).to_have_attribute("data-waiting", "2")
    assert page.evaluate("window.badges") == [3, 2]


def test_the_browser_takes_the_manifest_for_one_of_an_app_to_install(installed):
    page = installed.page
    session = page.context.new_cdp_session(page)

    manifest = session.send("Page.getAppManifest")
    problems = session.send("Page.getInstallabilityErrors")["installabilityErrors"]

    assert manifest["errors"] == []
    # A test's window is one of those that keep nothing, in which browsers install nothing.
    assert [one["errorId"] for one in problems if one["errorId"] != "in-incognito"] == []
