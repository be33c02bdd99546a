"""Who calls too often is told when to come back; a counter that is away stops nobody."""

import logging
import signal
import socket
import time

import pytest

from service.domain.delivery import Platform
from service.moderation.sites import issue_key
from tests.commands import until
from tests.factories import SITE
from tests.functional.conftest import app_with, client_with
from tests.functional.webhooks.conftest import SECRET, add_hook, hex_signature
from tests.servers import GIVEN_UP_SECONDS, running_valkey


def test_a_key_that_calls_too_often_is_told_when_to_come_back(services, site_key, monkeypatch):
    api = client_with(app_with(services, REQUESTS_PER_MINUTE=3), site_key)
    now = time.time()

    answers = [api.get(path) for path in ("/v1/site", "/v1/comments", "/v1/site", "/v1/site")]
    monkeypatch.setattr("time.time", lambda: now + 50)
    later = api.get("/v1/site")

    assert [a.status_code for a in (*answers, later)] == [200, 200, 200, 429, 429]
    assert answers[3].content_type == "application/problem+json"
    assert 40 < int(answers[3].headers["Retry-After"]) <= 60
    assert 1 <= int(later.headers["Retry-After"]) <= 20
    assert answers[3].get_json()["type"] == "/docs#problem-too-many-requests"


GUESSES = {
    "a site's key": lambda client, key: client.get("/v1/site", headers=_bearer(key)),
    "the token of metrics": lambda client, key: client.get("/metrics", headers=_bearer(key)),
    "an Akismet key": lambda client, key: client.post(
        "/1.1/verify-key", data={"key": key, "blog": "https://blog.example/"}
    ),
    "a hook's secret": lambda client, secret: client.post(
        "/hooks/hook_github",
        data=b"{}",
        headers={"X-Hub-Signature-256": hex_signature(b"{}", secret), "X-GitHub-Event": "ping"},
    ),
}


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.mark.parametrize("what", GUESSES)
def test_guessing_ends_in_429_and_shuts_no_neighbour_out(services, site_key, what, caplog):
    akismet_key = issue_key(SITE, services, actor="test", is_akismet=True).secret
    add_hook(services, Platform.GITHUB)
    rights = dict(zip(GUESSES, (site_key, "a token", akismet_key, SECRET), strict=True))
    client = app_with(services, METRICS_TOKEN="a token").test_client()
    guess = GUESSES[what]

    wrong = [guess(client, f"{n:012x}") for n in range(32)]
    right = guess(client, rights[what])

    # Akismet's clients read no status.
    assert {answer.status_code for answer in wrong[:30]} == {200 if "Akismet" in what else 401}
    assert [answer.status_code for answer in wrong[30:]] == [429] * 2
    assert (right.status_code, right.data == wrong[0].data) == (200, False)
    assert "127.0.0.1" not in " ".join(str(vars(record)) for record in caplog.records)


def test_health_is_never_limited(services):
    client = app_with(services, REQUESTS_PER_MINUTE=1).test_client()

    statuses = {client.get(path).status_code for path in ("/livez", "/readyz") * 5}

    assert statuses == {200}


@pytest.fixture(params=["hung", "dead"])
def storage_url(request):
    """The URL of a server that takes connections and never says a word, or that takes none."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if request.param == "hung":
            listener.listen(50)
        yield f"redis://:hunter2@127.0.0.1:{listener.getsockname()[1]}/0"


def test_without_the_counter_requests_are_still_served_and_limited(
    services, site_key, storage_url, caplog
):
    caplog.set_level(logging.INFO)
    api = client_with(
        app_with(services, REQUESTS_PER_MINUTE=3, RATELIMIT_STORAGE_URI=storage_url), site_key
    )

    started = time.monotonic()
    statuses = [api.get("/v1/site").status_code for _ in range(4)]
    seconds = time.monotonic() - started

    assert statuses == [200, 200, 200, 429]
    assert seconds < GIVEN_UP_SECONDS
    assert "hunter2" not in caplog.text
    assert "127.0.0.1" not in "".join(r.getMessage() for r in caplog.records)


def test_several_servers_count_together_and_go_on_when_the_counter_is_back(services, site_key):
    with running_valkey() as valkey:
        url = valkey.url.replace("unix://", "redis+unix://", 1)
        clients = [
            client_with(
                app_with(services, REQUESTS_PER_MINUTE=4, RATELIMIT_STORAGE_URI=url), site_key
            )
            for _ in range(2)
        ]
        before = [client.get("/v1/site").status_code for client in clients * 3]

        valkey.process.send_signal(signal.SIGSTOP)
        away = clients[0].get("/v1/site").status_code
        valkey.process.send_signal(signal.SIGCONT)

        assert (before, away) == ([200] * 4 + [429] * 2, 200)
        until(lambda: clients[0].get("/v1/site").status_code == 429)
