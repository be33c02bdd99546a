"""An application over SQLite, and clients with and without a site key."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.finding import ok
from service.domain.list_entry import Effect, EntryKind
from service.moderation.lists import NewEntry, add_entry
from service.moderation.sites import issue_key
from service.ports.services import Services
from service.web.app import create_app
from service.web.edge.verdict_waiter import VerdictWaiter
from tests.commands import run_command
from tests.factories import SITE
from tests.fakes import make_site
from tests.functional.moderators import signed_in

SECRET_KEY = "for tests only, thirty-two characters"


@pytest.fixture
def config() -> dict[str, Any]:
    return {"SECRET_KEY": SECRET_KEY, "MAX_WAIT_SECONDS": 5.0}


@pytest.fixture
def app(services: Services, config: dict[str, Any]) -> Flask:
    return create_app(services, config, {"stores": lambda: ok("stores", "they answer")})


@pytest.fixture
def site_key(services: Services) -> str:
    return issue_key(SITE, services, actor="test").secret


@pytest.fixture
def stranger(app: Flask) -> FlaskClient:
    """A client without a key."""
    return app.test_client()


@pytest.fixture
def api(app: Flask, site_key: str) -> FlaskClient:
    """A client of the factories' site."""
    return client_with(app, site_key)


@pytest.fixture
def submit(api: FlaskClient, services: Services) -> Callable[..., Case]:
    """Send a comment over the API; return what became of it."""

    def submit(**fields: object) -> Case:
        answer = api.post("/v1/comments?wait=5", json={"text": "Thanks, that helped."} | fields)
        assert answer.status_code == 202, answer.get_json()
        return services.cases.get(CommentId(answer.get_json()["id"]))

    return submit


@pytest.fixture
def block(services: Services) -> Callable[[EntryKind, str], None]:
    """Put an entry on the block list of the factories' site."""

    def block(kind: EntryKind, value: str) -> None:
        entry = NewEntry(effect=Effect.BLOCK, kind=kind, value=value, reason="Spams", site_id=SITE)
        add_entry(entry, services, by="Ola")

    return block


@pytest.fixture
def other_api(app: Flask, services: Services) -> FlaskClient:
    other = make_site(id="site-2", name="Kettle blog")
    services.sites.add(other)
    return client_with(app, issue_key(other.id, services, actor="test").secret)


@pytest.fixture
def client(services: Services, app: Flask) -> FlaskClient:
    """A client of a moderator who is signed in."""
    return signed_in(services, app=app)


def app_with(services: Services, **config: Any) -> Flask:
    """Return an application with these settings over services."""
    return create_app(services, {"SECRET_KEY": SECRET_KEY, **config}, {})


def client_with(app: Flask, key: str) -> FlaskClient:
    client = app.test_client()
    client.environ_base["HTTP_AUTHORIZATION"] = f"Bearer {key}"
    return client


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Run a command on a data folder of its own; return its output, or its JSON lines."""

    def run(*words: str, typed: str | bytes | None = None) -> Any:
        done = run_command(*words, "--data-dir", tmp_path, input=typed)
        if "--json" in words:
            return [json.loads(line) for line in done.stdout.splitlines()]
        return done.output

    return run


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """How long each request said that it would wait, in seconds."""
    asked = []
    for_verdict = VerdictWaiter.for_verdict

    def note(self, comment_id, *, seconds):
        asked.append(seconds)
        return for_verdict(self, comment_id, seconds=seconds)

    monkeypatch.setattr(VerdictWaiter, "for_verdict", note)
    return asked
