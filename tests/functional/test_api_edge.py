"""What every answer carries, health, the documentation, and what the log says."""

from __future__ import annotations

import logging
import re
from unittest.mock import ANY

import pytest
from flask import request

from service.domain.finding import Finding, fail, well
from service.web.app import create_app
from service.web.edge.config import WebConfig
from tests.functional.conftest import SECRET_KEY

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
    config = WebConfig(secret_key=SECRET_KEY, https_only_cookies=True)
    app = create_app(services, config, {})

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


def test_an_unknown_path_is_not_logged(api, caplog):
    caplog.set_level(logging.INFO)

    api.get("/v1/comments/../../etc/passwd-Zanzibar")

    line = next(r for r in caplog.records if r.name == "service.web.access")
    assert (line.route, line.status) == (None, 404)
    assert "Zanzibar" not in str(vars(line))


def _broken() -> Finding:
    raise ConnectionError("redis://:hunter2@127.0.0.1:6379 refused")


def test_readiness_names_the_part_that_is_away(services):
    away = fail("queue", "no answer within 1 s", "See that Valkey runs.")
    checks = {
        "database": lambda: well("database", "it answers"),
        "queue": lambda: away,
        "model": _broken,
    }
    app = create_app(services, WebConfig(secret_key=SECRET_KEY), checks)

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
    config = WebConfig(secret_key=SECRET_KEY, trusted_proxies=proxies)
    app = create_app(services, config, {})
    seen: list[str] = []
    app.before_request(lambda: seen.append(request.remote_addr))

    app.test_client().get("/livez", headers={"X-Forwarded-For": "198.51.100.7, 203.0.113.9"})

    assert seen == [address]


def test_no_secret_prints():
    config = WebConfig(secret_key=SECRET_KEY, metrics_token="a token to scrape with")

    assert SECRET_KEY not in repr(config)
    assert "a token" not in repr(config)


def test_the_page_of_the_api_loads_nothing_from_elsewhere(stranger):
    answer = stranger.get("/docs")

    page = answer.get_data(as_text=True)
    sources = [one for one in re.findall(r'(?:src|href)="([^"]+)"', page) if one[0] != "#"]
    assert answer.status_code == 200
    assert "script-src 'self';" in answer.headers["Content-Security-Policy"]
    assert [one for one in sources if stranger.get(one, buffered=True).status_code != 200] == []
