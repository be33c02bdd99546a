"""The API process is stopped while keys are pressed, and another one takes its place."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Error, expect

from service.settings import load_settings
from service.stores.migrations import migrate
from service.wiring import wire
from tests.factories import NOW, SITE, make_comment
from tests.fakes import make_site
from tests.functional.moderators import PASSWORD, add_moderator, keep

KEYS = "arraraaraa"
RULED = [{"a": "approve", "r": "reject"}[key] for key in KEYS]
# A process starts within seconds; on a busy machine it takes its time.
STARTS_MS = 120_000


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@contextmanager
def api(folder, port: int):
    """Run the API process over this data folder and give it."""
    environment = os.environ | {
        "SLOPSIEVE_DATA_DIR": str(folder),
        "SLOPSIEVE_PORT": str(port),
        "SLOPSIEVE_VALKEY_URL": "redis://127.0.0.1:1/0",
    }
    command = [sys.executable, "-m", "service.processes.app"]
    with (folder / "api.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def test_ten_keys_are_ten_decisions_in_order_though_the_process_is_replaced_midway(
    browser, tmp_path
):
    wired = wire(load_settings(data_dir=tmp_path, valkey_url="redis://127.0.0.1:1/0"))
    migrate(wired.engine)
    services, port = wired.services, free_port()
    services.common.sites.add(make_site(id=SITE))
    add_moderator(services)
    for n in range(13):
        received_at = NOW - timedelta(hours=20 - n)
        keep(services, make_comment(f"Comment number {n}", received_at=received_at))
    context = browser.new_context(base_url=f"http://127.0.0.1:{port}")
    page = context.new_page()
    held = set()
    page.on("response", lambda answer: held.update(ids_held(answer)))

    with api(tmp_path, port) as first:
        wait_until_open(page)
        page.fill("#name", "Ola")
        page.fill("#password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/review")
        page.locator("html[data-ready]").wait_for(state="attached")
        order = [row.get_attribute("data-id") for row in page.locator(".row").all()]
        press(page, KEYS[:5])
        # What the page holds it can decide without a server.
        wait_for(page, lambda: held.issuperset(order[5:10]))
        press(page, KEYS[5])
        first.kill()
        press(page, KEYS[6:8])
        first.wait()
    with api(tmp_path, port):
        press(page, KEYS[8:])
        wait_for(page, lambda: len(rulings_of(services)) >= len(KEYS))
        expect(page.locator(".sending")).to_be_empty(timeout=STARTS_MS)
        expect(page.locator(".refused .conflict")).to_have_count(0)
        context.close()

    assert rulings_of(services) == list(zip(order[:10], RULED, strict=True))
    wired.close()


def ids_held(answer) -> list[str]:
    """Return which comments an answer hands out ahead of the hand."""
    url = urlsplit(answer.url)
    if url.path != "/review/ahead" or not answer.ok:
        return []
    return parse_qs(url.query)["id"][0].split(",")


def rulings_of(services) -> list[tuple[str, str]]:
    entries = reversed(services.common.audit_log.recent(limit=100))
    return [(one.subject, one.act) for one in entries if one.act in {"approve", "reject"}]


def wait_for(page, condition) -> None:
    for _ in range(STARTS_MS // 100):
        if condition():
            return
        page.wait_for_timeout(100)
    pytest.fail("what was waited for did not come")


def press(page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(20)


def wait_until_open(page) -> None:
    """Load the page for signing in as soon as the process answers."""
    for _ in range(STARTS_MS // 200):
        try:
            page.goto("/sign-in")
        except Error:
            page.wait_for_timeout(200)
        else:
            return
    pytest.fail("the API process does not answer")
