"""Metrics are read by whoever operates the service, and by nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.web.app import create_app
from service.web.edge.config import WebConfig
from tests.functional.conftest import SECRET_KEY

TOKEN = "a token of thirty-two characters, at least"


@pytest.fixture
def scrape(services):
    """Return a function that asks an application with these options for its metrics."""

    def ask(*, headers=None, address="127.0.0.1", **options):
        config = WebConfig(secret_key=SECRET_KEY, **options)
        app = create_app(services, config, {}, lambda: b"things_total 1.0\n")
        return app.test_client().get(
            "/metrics", headers=headers, environ_base={"REMOTE_ADDR": address}
        )

    return ask


@pytest.mark.parametrize(
    ("address", "headers", "may"),
    [
        ("127.0.0.1", {}, True),
        ("::1", {}, True),
        ("203.0.113.9", {}, False),
        ("10.0.0.2", {}, False),
        ("2001:db8::1", {}, False),
        ("", {}, False),
        # What came through a proxy is not this machine.
        *(
            ("127.0.0.1", {name: "127.0.0.1"}, False)
            for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")
        ),
    ],
)
def test_without_a_token_the_machine_itself_may_read_and_no_other(scrape, address, headers, may):
    answer = scrape(address=address, headers=headers)

    assert answer.status_code == (200 if may else 401)
    assert ("things_total 1.0" in answer.text) is may
    assert not may or answer.content_type.startswith("text/plain; version=0.0.4")


def test_with_a_token_whoever_sends_it_may_read_from_anywhere(scrape):
    right = {"Authorization": f"Bearer {TOKEN}"}

    assert scrape(metrics_token=TOKEN, headers=right, address="203.0.113.9").status_code == 200
    assert scrape(metrics_token=TOKEN).status_code == 401
    wrong = {"Authorization": "Bearer slöp"}
    assert scrape(metrics_token=TOKEN, headers=wrong).status_code == 401


def test_requests_are_told_by_their_template_never_by_their_path(services, config):
    served = []

    class Recording(type(services.observer)):
        def served(self, **what) -> None:
            served.append((what["route"], what["method"], what["status"]))

    app = create_app(replace(services, observer=Recording()), config, {})
    client = app.test_client()
    client.get("/v1/comments/com_zanzibar")
    client.get("/zanzibar/and/more")
    client.open("/livez", method="ZANZIBAR")

    assert served == [
        ("/v1/comments/<id:comment_id>", "GET", 401),
        ("", "GET", 404),
        ("", "other", 405),
    ]


def test_wrong_tokens_from_an_address_shut_the_right_one_out_nowhere(services):
    config = WebConfig(secret_key=SECRET_KEY, metrics_token=TOKEN, failures_per_minute=3)
    client = create_app(services, config, {}, lambda: b"").test_client()

    wrong = [
        client.get("/metrics", headers={"Authorization": f"Bearer {n}"}).status_code
        for n in range(4)
    ]
    right = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})

    assert wrong == [401] * 3 + [429]
    assert right.status_code == 200
