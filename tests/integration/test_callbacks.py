"""Verdicts and decisions reach a site through the real processes: signed, in order, in the end."""

from __future__ import annotations

import base64
import hmac
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sites import Received, Site, running_site, with_status

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_SECONDS = 30.0
# Three attempts, over within a second.
FAST_SCHEDULE = "0.2,0.4"


def until(condition, *, seconds=DEADLINE_SECONDS):
    """Return what the condition gives once that is true; fail after the deadline."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.02)
    return answer


@dataclass
class Slopsieve:
    """A whole Slopsieve under its supervisor, and the site that it tells."""

    url: str
    key: str
    site_id: str
    environment: dict[str, str]
    site: Site
    secret: str = ""

    def call(self, method: str, path: str, body: object = None) -> dict:
        """Call the API and return what it answers."""
        request = urllib.request.Request(  # noqa: S310  # our own address
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as response:
            return json.loads(response.read())

    def command(self, *arguments: str) -> list[dict]:
        """Run a command and return the JSON lines that it prints."""
        done = subprocess.run(
            [str(Path(sys.executable).parent / "slopsieve"), *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def submit(self, text: str, wait: int = 20) -> dict:
        """Submit a comment and wait for its verdict."""
        return self.call("POST", f"/v1/comments?wait={wait}", {"text": text})

    def messages(self, comment_id: str) -> list[dict]:
        """Return what the site accepted about a comment, in the order it came."""
        bodies = [json.loads(received.body) for received in self.site.received]
        return [body for body in bodies if body["data"]["id"] == comment_id]


def start(folder: Path, site: Site, proxy: Site) -> tuple[subprocess.Popen, Slopsieve]:
    nowhere = f"http://127.0.0.1:{proxy.port}"
    environment = os.environ | {
        "SLOPSIEVE_DATA_DIR": str(folder),
        "SLOPSIEVE_AUDIT_SHARE": "0",
        "SLOPSIEVE_CALLBACK_ALLOW": "127.0.0.1/32",
        "SLOPSIEVE_CALLBACK_PORTS": f"443,{site.port}",
        "SLOPSIEVE_CALLBACK_PLAIN_HTTP": "true",
        "SLOPSIEVE_CALLBACK_DELAYS": FAST_SCHEDULE,
        # Whoever listened to these would be noticed.
        **dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"), nowhere),
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "slopsieve"), "up", "--json", "--port", "0"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    said = json.loads(process.stdout.readline() or b"{}")
    assert said, (folder / "log").read_text()
    return process, Slopsieve(
        url=said["url"],
        key=said["site_key"],
        site_id=said["site_id"],
        environment=environment,
        site=site,
    )


@pytest.fixture(scope="module")
def slopsieve(tmp_path_factory):
    """A running Slopsieve whose one site is told of everything."""
    folder = tmp_path_factory.mktemp("data")
    with running_site() as site, running_site() as proxy:
        process, running = start(folder, site, proxy)
        try:
            [row] = running.command("callbacks", "set", "My site", site.url(), "--json")
            running.secret = row["secret"]
            yield running
            assert proxy.connections == 0
            log = (folder / "log").read_text()
            assert "unregistered" not in log
            assert running.secret not in log
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)
            process.stdout.close()


@pytest.fixture(autouse=True)
def honest_again(slopsieve):
    slopsieve.site.answer = with_status(204, body=b"")
    yield
    slopsieve.site.answer = with_status(204, body=b"")


def is_signed(received: Received, secret: str) -> bool:
    """Check a message as any receiver would, with nothing of the sender's code."""
    headers = received.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + received.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
    fresh = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    return fresh and expected in headers["webhook-signature"].split(" ")


def test_verdict_and_decision_arrive_signed_and_in_order(slopsieve):
    comments = [slopsieve.submit(f"The valve on floor {n} was stuck too.") for n in range(8)]
    for comment in comments:
        slopsieve.call("POST", f"/v1/comments/{comment['id']}/decision", {"ruling": "approve"})
    ids = [comment["id"] for comment in comments]

    until(
        lambda: all(
            slopsieve.messages(one)[-1:] and _types(slopsieve, one)[-1] == "decided" for one in ids
        )
    )

    for comment in comments:
        told = slopsieve.messages(comment["id"])
        unsure = comment["verdict"]["outcome"] == "unsure"
        assert _types(slopsieve, comment["id"]) == [
            "judged",
            *(["needs_review"] if unsure else []),
            "decided",
        ]
        assert told[0]["data"]["outcome"] == comment["verdict"]["outcome"]
        assert told[0]["data"]["p_spam"] == comment["verdict"]["p_spam"]
        assert told[-1]["data"]["ruling"] == "approve"
        assert told[-1]["data"]["action"] == "publish"
    assert all(is_signed(received, slopsieve.secret) for received in slopsieve.site.received)
    assert not any(b"valve" in received.body for received in slopsieve.site.received)


def test_a_site_that_hangs_delays_no_verdict(slopsieve):
    site = slopsieve.site
    site.answer = lambda received: [site.pause(8) or b"", *with_status(200)(received)]
    slowest = 0.0

    for number in range(12):
        began = time.monotonic()
        comment = slopsieve.submit(f"It took {number} tries, but it holds.")
        slowest = max(slowest, time.monotonic() - began)
        assert comment["verdict"] is not None

    assert slowest < 3.0
    waiting = slopsieve.call("GET", "/v1/site/deliveries?state=waiting")["deliveries"]
    assert len(waiting) > 0


def _types(slopsieve: Slopsieve, comment_id: str) -> list[str]:
    return [told["type"].removeprefix("comment.") for told in slopsieve.messages(comment_id)]
