"""What every answer carries, health, metrics, the documentation, and what the log says."""

import logging
import re
from dataclasses import replace
from unittest.mock import ANY

import pytest
from flask import request

from service.domain.finding import Finding, fail, ok
from service.web.app import create_app
from tests.functional.conftest import SECRET_KEY, app_with

EVERY_PATH = [
    "/v1/site",
    "/v1/nothing",
    "/livez",
    "/readyz",
    "/openapi.json",
    "/docs",
    "/static/docs.css",
]


def test_every_answer_carries_the_security_headers(api):
    for path in EVERY_PATH:
        headers = api.get(path, buffered=True).headers

        assert not path.startswith("/v1") or headers["Cache-Control"] == "no-store", path
        assert "default-src 'none'" in headers["Content-Security-Policy"], path
        assert "unsafe" not in headers["Content-Security-Policy"], path
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["X-Frame-Options"] == "DENY", path
        assert headers["Referrer-Policy"] == "no-referrer", path
        assert "Strict-Transport-Security" not in headers, path


def test_behind_https_browsers_are_told_to_stay_there(services):
    app = app_with(services, SESSION_COOKIE_SECURE=True)

    headers = app.test_client().get("/livez").headers

    assert "max-age" in headers["Strict-Transport-Security"]


def test_a_well_formed_request_id_is_echoed_and_any_other_replaced(api):
    def answered(given: str) -> str:
        return api.get("/v1/site", headers={"X-Request-Id": given}).headers["X-Request-Id"]

    assert answered("import-2026.03_01") == "import-2026.03_01"
    for given in ("short", "x" * 65, "has space in it", "<script>alert</script>"):
        assert re.fullmatch(r"[0-9a-f]{16}", answered(given)), given


def test_each_request_is_one_line_without_query_body_or_address(api, caplog):
    caplog.set_level(logging.INFO)

    answer = api.post(
        "/v1/comments?wait=0.01",
        json={
            "text": "Zanzibar",
            "author": {"email": "mara@example.org"},
            "address": "203.0.113.9",
        },
    )

    lines = [r for r in caplog.records if r.name == "service.web.access"]
    everything = " ".join(str(vars(record)) for record in caplog.records)
    assert [(r.method, r.route, r.status) for r in lines] == [("POST", "/v1/comments", 202)]
    assert lines[0].request_id == answer.headers["X-Request-Id"]
    assert lines[0].milliseconds >= 0
    assert not any(w in everything for w in ("Zanzibar", "mara@", "203.0.113.9", "127.0.0.1"))


def _broken() -> Finding:
    raise ConnectionError("redis://:hunter2@127.0.0.1:6379 refused")


def test_readiness_names_the_part_that_is_away(services):
    away = fail("queue", "no answer within 1 s", "See that Valkey runs.")
    checks = {
        "database": lambda: ok("database", "it answers"),
        "queue": lambda: away,
        "model": _broken,
    }
    app = create_app(services, {"SECRET_KEY": SECRET_KEY}, checks)

    answer = app.test_client().get("/readyz")

    assert answer.status_code == 503
    assert answer.get_json() == {
        "ready": False,
        "parts": {
            "database": "ok",
            "queue": "no answer within 1 s",
            "model": "the check failed (ConnectionError)",
        },
        "remedies": {"queue": "See that Valkey runs.", "model": ANY},
    }
    assert "slopsieve doctor" in answer.get_json()["remedies"]["model"]


@pytest.mark.parametrize(("proxies", "address"), [(0, "127.0.0.1"), (1, "203.0.113.9")])
def test_only_as_many_proxies_are_believed_as_are_trusted(services, proxies, address):
    app = app_with(services, TRUSTED_PROXIES=proxies)
    seen: list[str] = []
    app.before_request(lambda: seen.append(request.remote_addr))

    app.test_client().get("/livez", headers={"X-Forwarded-For": "198.51.100.7, 203.0.113.9"})

    assert seen == [address]


TOKEN = "a token of thirty-two characters, at least"


@pytest.mark.parametrize(
    ("token", "address", "headers", "may"),
    [
        (None, "127.0.0.1", {}, True),
        (None, "203.0.113.9", {}, False),
        (None, "", {}, False),
        # What came through a proxy is not this machine.
        *(
            (None, "127.0.0.1", {name: "127.0.0.1"}, False)
            for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via")
        ),
        (TOKEN, "203.0.113.9", {"Authorization": f"Bearer {TOKEN}"}, True),
        (TOKEN, "127.0.0.1", {}, False),
        (TOKEN, "127.0.0.1", {"Authorization": "Bearer slöp"}, False),
    ],
)
def test_metrics_are_for_who_has_the_token_or_without_one_for_this_machine(
    services, token, address, headers, may
):
    config = {"SECRET_KEY": SECRET_KEY, "METRICS_TOKEN": token}
    app = create_app(services, config, {}, lambda: b"things_total 1.0\n")

    answer = app.test_client().get(
        "/metrics", headers=headers, environ_base={"REMOTE_ADDR": address}
    )

    assert answer.status_code == (200 if may else 401)
    assert ("things_total 1.0" in answer.text) is may
    assert not may or answer.content_type.startswith("text/plain; version=0.0.4")


def test_requests_are_told_by_their_template_never_by_their_path(services, config, caplog):
    caplog.set_level(logging.INFO)
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
    assert "zanzibar" not in " ".join(str(vars(record)) for record in caplog.records).lower()
