"""Every route asks who calls, or says in so many words that strangers may call it."""

import re

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from service.domain.delivery import Platform
from service.web.app import create_app
from service.web.edge.auth import AKISMET, API, HOOKS, is_open
from service.web.pages.blueprint import needed
from service.web.webhooks.server import ADAPTERS
from tests.fakes import make_services

# Every refusal is looked at, however many come from one address.
CONFIG = {
    "SECRET_KEY": "for tests only, thirty-two characters",
    "FAILURES_PER_MINUTE": 1_000_000,
}
# Whatever is added here is open to the whole network: say why.
OPEN = {
    "/livez",  # asked by scripts and load balancers
    "/readyz",
    "/metrics",  # asks for a token of its own, or answers this machine alone
    "/docs",  # holds nothing of any site; a form takes one's own key
    "/docs/swagger-ui/<release_asked>/<name>",  # two files of a package
    "/openapi.json",
    "/static/<path:filename>",  # style sheets and scripts
    "/sign-in",  # where moderators prove who they are
    "/sign-in/code",  # the second step of it
    # What a site's owner has switched on for anybody to read: words that stand on a public page.
    "/public/<hook_id>/comments",
    "/public/<hook_id>/comments.html",
    # What a visitor's browser loads with a comment form: it has no key.
    "/public/<hook_id>/form.js",
    "/public/<hook_id>/form-token",
    "/public/<hook_id>/words",
    # What an author reads of their own comment: the link is signed.
    "/public/statements/<token>",
    # Clients ask these before they have a key; the answers are the same for everybody.
    "/1.1/test",
    "/1.2/test",
    "/1.1/compatible-plugins",
    "/1.2/compatible-plugins",
}
# Where each kind of key belongs: nothing is served there that asks for another, or elsewhere.
KINDS = {"v1": API, "hooks": HOOKS, "1.1": AKISMET, "1.2": AKISMET}
PAGES = "pages"


@pytest.fixture(scope="module")
def app() -> Flask:
    return create_app(make_services(), CONFIG, {})


def _guarded(app: Flask) -> list[Rule]:
    return [r for r in app.url_map.iter_rules() if not is_open(app.view_functions[r.endpoint])]


def _blueprint(rule: Rule) -> str:
    return rule.endpoint.rpartition(".")[0]


def _is_refused(rule: Rule, method: str, answer: TestResponse) -> bool:
    """Return True if the response refuses as this kind of route does."""
    kind = _blueprint(rule)
    if kind in {API, HOOKS}:
        return answer.status_code == 401
    if kind == AKISMET:
        # Its clients read no status.
        body = b"" if method == "HEAD" else b"invalid"
        return (answer.status_code, answer.data, answer.content_length) == (200, body, 7)
    if kind == PAGES:
        to_sign_in = answer.status_code == 303 and "/sign-in" in answer.location
        return to_sign_in or (method == "POST" and answer.status_code == 403)
    return False


def _path(rule: Rule) -> str:
    return "".join("some-id" if is_variable else part for is_variable, part in rule._trace).lstrip(
        "|"
    )


def test_only_these_routes_are_open_to_strangers(app):
    rules = list(app.url_map.iter_rules())

    marked = {r.rule for r in rules if is_open(app.view_functions[r.endpoint])}

    assert marked == OPEN


@pytest.mark.parametrize(
    "shown",
    [
        {},
        {"headers": {"Authorization": "Bearer slop_wrong"}},
        {"query_string": {"key": "a" * 12}},
        {"query_string": {"api_key": "a" * 12}},
    ],
    ids=["no key", "a wrong key", "a wrong key of Akismet", "the same, named as it is now"],
)
def test_a_stranger_gets_past_no_other_route(shown):
    # An app of its own: wrong keys are counted.
    app = create_app(make_services(), CONFIG, {})
    client = app.test_client()
    let_in = []

    for rule in _guarded(app):
        for method in rule.methods or set():
            answer = client.open(_path(rule), method=method, **shown)
            if not _is_refused(rule, method, answer):
                let_in.append((method, rule.rule, answer.status_code))

    assert {_blueprint(rule) for rule in _guarded(app)} == {API, HOOKS, AKISMET, PAGES}
    assert let_in == []


def test_every_page_that_changes_anything_says_who_may(app):
    views = {
        rule.rule: app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if _blueprint(rule) == PAGES and "POST" in (rule.methods or set())
    }

    unmarked = {path for path, view in views.items() if not is_open(view) and not needed(view)}

    assert views
    assert unmarked == set()


def test_only_a_static_form_sends_messages_that_nobody_signs():
    unsigned = {platform for platform in Platform if ADAPTERS[platform].verify is None}

    assert unsigned == {Platform.STATIC_FORM}


def test_every_route_lies_behind_the_kind_of_key_that_its_path_promises(app):
    rules = list(app.url_map.iter_rules())

    kinds = {(rule.rule.split("/")[1], _blueprint(rule)) for rule in rules}

    assert {(path, kind) for path, kind in kinds if path in KINDS or kind in KINDS.values()} == set(
        KINDS.items()
    )
    assert app.before_request_funcs[API]


def test_every_route_of_the_api_is_described(app):
    document = app.test_client().get("/openapi.json").get_json()

    described = {
        (path, method.upper()) for path, methods in document["paths"].items() for method in methods
    }
    served = {
        (re.sub(r"<(?:id:)?(\w+)>", r"{\1}", r.rule), method)
        for r in app.url_map.iter_rules()
        if r.rule.startswith(("/v1", "/livez", "/readyz")) or r.rule.endswith("/form-token")
        for method in (r.methods or set()) - {"HEAD", "OPTIONS"}
    }
    assert described == served
