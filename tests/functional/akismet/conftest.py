"""An Akismet key, a way to call with it, and a real socket to call at."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from models.inputs import ModelOutput
from service.moderation.sites import issue_key
from service.ports.services import Services
from service.web.akismet import views
from tests.factories import SITE
from tests.fakes import FixedClassifier
from tests.functional.serving import serving

BLOG = "https://blog.example/"
SPAM = "Win big at our casino, claim your bonus today."
HAM = "Don't forget to bleed the radiator first."
UNSURE = "Nice one."
WORDPRESS = {"User-Agent": "WordPress/6.1.9 | Akismet/5.7.2"}
CHECK = {"blog": BLOG, "user_ip": "192.0.2.7"}
THANKS = b"Thanks for making the web a better place."
UNKNOWN_KEY = "000000000000"


@pytest.fixture(autouse=True)
def wait_budget(monkeypatch) -> None:
    """Let checks wait long enough for what is judged here on any machine.

    What is answered must not depend on how busy that is; `test_in_time.py` is about the lateness.
    """
    monkeypatch.setattr(views, "WAIT_BUDGET_SECONDS", 5.0)


@pytest.fixture
def classifier() -> FixedClassifier:
    """A classifier that knows three texts; it is unsure of all others."""
    known = FixedClassifier(p_spam=0.5)
    known.by_text = {SPAM: ModelOutput(p_spam=0.99), HAM: ModelOutput(p_spam=0.01)}
    return known


@pytest.fixture
def key(services: Services) -> str:
    """A valid Akismet key of the factories' site."""
    return issue_key(SITE, services, actor="test", is_akismet=True).secret


@dataclass(frozen=True, kw_only=True)
class Akismet:
    """A client that sends its key along, unless told otherwise."""

    client: FlaskClient
    key: str

    def call(
        self, name: str, *, version: str = "1.1", headers: dict[str, str] | None = None, **fields
    ) -> TestResponse:
        """Post a form with the key as `api_key`; a field of None is left out."""
        given = {"api_key": self.key, **fields}
        form = {field: value for field, value in given.items() if value is not None}
        return self.client.post(f"/{version}/{name}", data=form, headers=headers)

    def check(self, text: str, *, headers: dict[str, str] | None = None, **fields) -> TestResponse:
        given = {**CHECK, "comment_content": text, **fields}
        return self.call("comment-check", headers=headers, **given)


@pytest.fixture
def akismet(app: Flask, key: str) -> Akismet:
    return Akismet(client=app.test_client(), key=key)


def akismet_headers(answer: TestResponse) -> dict[str, str]:
    """Return the protocol's own headers, by lower-case name."""
    return {
        name.lower(): value
        for name, value in answer.headers
        if name.lower().startswith("x-akismet-")
    }


@pytest.fixture
def address(app: Flask) -> Iterator[tuple[str, int]]:
    """A loopback address at which the application answers, through the real server."""
    with serving(app) as place:
        yield place
