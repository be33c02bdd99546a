"""Serves every hook under `/hooks/<id>`."""

from collections.abc import Mapping
from http import HTTPStatus
from importlib import import_module

from flask import Blueprint, Flask, Response, g, request
from flask.typing import ResponseReturnValue

from service.domain.delivery import Platform
from service.domain.errors import NotAuthenticatedError
from service.web.edge.auth import HOOKS, raise_refusal
from service.web.edge.current import services
from service.web.edge.errors import PROBLEM_TYPE, EdgeError, ProblemAnswer, wants_page
from service.web.edge.fields import is_id
from service.web.edge.headers import share
from service.web.edge.operation import read_bounded
from service.web.webhooks import static_form, visitors
from service.web.webhooks.adapter import Adapter, Received
from service.web.webhooks.public import public

# Each platform has the module of its name.
ADAPTERS: Mapping[Platform, Adapter] = {
    one: import_module(f".{one.name.lower()}", __package__).ADAPTER for one in Platform
}

hooks = Blueprint(HOOKS, __name__, url_prefix="/hooks")
hooks.before_request(raise_refusal)


def register_webhooks(app: Flask) -> None:
    """Serve hooks and public pages; `identify_hook` must run before each request."""
    app.register_blueprint(hooks)
    app.register_blueprint(public)
    app.after_request(_for_visitors)


@hooks.route("/<hook_id>", methods=["POST", "OPTIONS"], endpoint="receive")
def _receive(hook_id: str) -> ResponseReturnValue:  # `identify_hook` reads the id
    received: Received = g.received
    adapter = ADAPTERS[received.hook.platform]
    if request.method == "POST":
        return adapter.serve(received)
    if adapter.verify is not None:
        return Response(status=405, headers={"Allow": "POST"})
    return static_form.preflight(received)


def _for_visitors(response: Response) -> Response:
    """Add CORS headers to responses to forms, and replace errors by texts for visitors.

    It runs after the request, so that it also sees errors of the rate limits and the store.
    """
    if "shared_with" in g:
        share(response, g.shared_with)
    is_refusal = response.content_type == PROBLEM_TYPE
    if not is_refusal or not request.path.startswith(("/hooks/", "/public/")):
        return response
    document = ProblemAnswer.model_validate_json(response.get_data())
    if request.is_json or not wants_page():
        if "open_form" in g:
            response.set_data(visitors.in_words(document).model_dump_json())
        return response
    page = visitors.refuse(document)
    response.set_data(page.get_data())
    response.content_type = page.content_type
    response.headers["Content-Security-Policy"] = page.headers["Content-Security-Policy"]
    return response


def identify_hook() -> None:
    """Find the hook and verify its signature. Raises `NotAuthenticatedError` or `EdgeError`.

    An unknown hook and a wrong signature get the same response.
    """
    hook_id = (request.view_args or {}).get("hook_id", "")
    hook = services.inbound.get(hook_id) if is_id(hook_id) else None
    if hook is None:
        raise NotAuthenticatedError("There is no such hook, or the signature does not fit it.")
    adapter = ADAPTERS[hook.platform]
    site = services.sites.get(hook.site_id)
    if adapter.verify is None:
        # Before any error: a script can only read a response that has its origin.
        g.open_form = hook.id
        g.shared_with = static_form.origin_of(site)
    received = Received(hook=hook, site=site, body=read_bounded(adapter.max_body_bytes))
    if adapter.verify is not None:
        adapter.verify(received)
    if hook.revoked_at is not None:
        # Platforms that get this status stop calling.
        raise EdgeError("This hook was revoked.", status=HTTPStatus.GONE)
    g.received = received
    if adapter.verify is not None:
        g.site = site
        g.client = f"hook:{hook.id}"
