"""Every route asks who calls, or says in so many words that strangers may call it."""

from __future__ import annotations

import re

import pytest
from flask import Flask
from werkzeug.routing import Rule

from service.web.auth import API, is_open
from service.web.config import WebConfig
from service.web.flask_app import api_routes, create_app
from service.web.openapi import describe
from tests.fakes import make_services

CONFIG = WebConfig(secret_key="for tests only, thirty-two characters")
# Whatever is added here is open to the whole network: say why.
OPEN = {
    "/livez",  # asked by scripts and load balancers
    "/readyz",
    "/docs",  # holds nothing of any site
    "/openapi.json",
    "/static/<path:filename>",  # style sheets and scripts
    "/sign-in",  # where moderators prove who they are
}


@pytest.fixture(scope="module")
def app() -> Flask:
    return create_app(make_services(), CONFIG, {})


def _guarded(app: Flask) -> list[Rule]:
    return [r for r in app.url_map.iter_rules() if not is_open(app.view_functions[r.endpoint])]


def _path(rule: Rule) -> str:
    return "".join("some-id" if is_variable else part for is_variable, part in rule._trace).lstrip(
        "|"
    )


def test_only_these_routes_are_open_to_strangers(app):
    rules = list(app.url_map.iter_rules())

    marked = {r.rule for r in rules if is_open(app.view_functions[r.endpoint])}

    assert marked == OPEN


def test_a_stranger_gets_past_no_other_route(app):
    client = app.test_client()
    let_in = []

    for rule in _guarded(app):
        for method in rule.methods or set():
            answer = client.open(_path(rule), method=method)
            sent_to_sign_in = answer.status_code == 303 and "/sign-in" in answer.location
            refused_form = answer.status_code == 403 and not rule.rule.startswith("/v1")
            if answer.status_code != 401 and not sent_to_sign_in and not refused_form:
                let_in.append((method, rule.rule, answer.status_code))

    assert len(_guarded(app)) >= 12
    assert let_in == []


def test_a_wrong_key_opens_no_route_of_the_api():
    # An app of its own: wrong keys are counted.
    app = create_app(make_services(), CONFIG, {})
    client = app.test_client()
    rules = [r for r in _guarded(app) if r.endpoint.startswith(f"{API}.")]

    answers = {
        (method, rule.rule): client.open(
            _path(rule), method=method, headers={"Authorization": "Bearer slop_wrong"}
        ).status_code
        for rule in rules
        for method in rule.methods or set()
    }

    assert len(answers) >= 11
    assert set(answers.values()) == {401}


def test_every_route_of_the_api_lies_behind_the_site_key(app):
    outside = [
        r.rule
        for r in app.url_map.iter_rules()
        if r.rule.startswith("/v1") and not r.endpoint.startswith(f"{API}.")
    ]

    assert outside == []
    assert app.before_request_funcs[API]


def test_every_route_of_the_api_is_described(app):
    document = describe(api_routes(make_services(), CONFIG))

    described = {
        (path, method.upper()) for path, methods in document["paths"].items() for method in methods
    }
    served = {
        (re.sub(r"<id:(\w+)>", r"{\1}", r.rule), method)
        for r in app.url_map.iter_rules()
        if r.rule.startswith(("/v1", "/livez", "/readyz"))
        for method in (r.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert described == served
