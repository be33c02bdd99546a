"""Serves every hook under one kind of address, `/hooks/<id>`."""

from __future__ import annotations

import time

from flask import Blueprint, Flask, Response, g, request

from service.domain.errors import ModerationError, NotAuthenticatedError
from service.ports.services import Services
from service.web.edge.answers import ProblemAnswer
from service.web.edge.auth import HOOKS
from service.web.edge.errors import PROBLEM_TYPE, EdgeError
from service.web.edge.ids import is_id
from service.web.edge.line import Submit
from service.web.edge.reading import read_bounded
from service.web.edge.sharing import share
from service.web.edge.verdict_waiter import VerdictWaiter
from service.web.webhooks import public_comments, static_form, visitors
from service.web.webhooks.adapters import ADAPTERS
from service.web.webhooks.form_script import add_form_routes
from service.web.webhooks.received import Adapter, Received, Tools
from service.web.webhooks.statements import add_statement_routes


class HookRevokedError(EdgeError):
    """The hook was ended; platforms that are told so stop calling."""

    status = 410


def register_webhooks(
    app: Flask, services: Services, submit: Submit, waiter: VerdictWaiter
) -> None:
    """Serve the hooks; `identify_hook` must run before each request."""
    blueprint = Blueprint(HOOKS, __name__, url_prefix="/hooks")
    tools = Tools(services=services, submit=submit, waiter=waiter)

    def receive(hook_id: str) -> Response:  # `identify_hook` has looked it up
        received = _identified()
        adapter = ADAPTERS[received.hook.platform]
        if request.method == "OPTIONS":
            return _answer_preflight(received, adapter)
        return adapter.serve(received, tools)

    blueprint.add_url_rule(
        "/<hook_id>",
        endpoint="receive",
        view_func=receive,
        methods=["POST", "OPTIONS"],
        provide_automatic_options=False,
    )
    app.register_blueprint(blueprint)
    public = public_comments.blueprint(services)
    add_form_routes(public, services)
    add_statement_routes(public, services)
    app.register_blueprint(public)
    app.after_request(_for_visitors)


def _for_visitors(response: Response) -> Response:
    """Let a site's own script read whatever a form is answered; tell refusals in visitors' words.

    Whatever refused the request: the limits and a failing store do not know what a form is.
    """
    if "shared_with" in g:
        share(response, g.shared_with)
    is_refusal = response.content_type == PROBLEM_TYPE
    if not is_refusal or not request.path.startswith(("/hooks/", "/public/")):
        return response
    document = ProblemAnswer.model_validate_json(response.get_data())
    if request.is_json or not visitors.wants_page(request.headers.get("Accept", "")):
        if "open_form" in g:
            response.set_data(visitors.in_words(document).model_dump_json())
        return response
    page = visitors.refuse(document)
    response.set_data(page.get_data())
    response.content_type = page.content_type
    response.headers["Content-Security-Policy"] = page.headers["Content-Security-Policy"]
    return response


def identify_hook(services: Services) -> None:
    """Find out which hook is called and whether its platform calls, before anything is counted.

    What goes wrong is raised by the view, so that failures are counted in between.
    """
    if request.blueprint != HOOKS:
        return
    try:
        received = _receive(services)
    except (ModerationError, EdgeError) as refusal:
        g.refusal = refusal
        return
    g.received = received
    if ADAPTERS[received.hook.platform].verify is not None:
        g.site = received.site


def _receive(services: Services) -> Received:
    """Return the request. Raises `NotAuthenticatedError`, `TooLargeError`, `HookRevokedError`.

    A stranger learns nothing of which hooks there are.
    """
    hook_id = (request.view_args or {}).get("hook_id", "")
    hook = services.inbound.get(hook_id) if is_id(hook_id) else None
    if hook is None:
        raise NotAuthenticatedError("There is no such hook, or the signature does not fit it.")
    adapter = ADAPTERS[hook.platform]
    site = services.sites.get(hook.site_id)
    if adapter.verify is None:
        # Before anything can be refused: a script can only read what names its origin.
        g.open_form = hook.id
        g.shared_with = static_form.origin_of(request.headers, site)
    received = Received(
        hook=hook,
        site=site,
        headers=request.headers,
        body=read_bounded(adapter.max_body_bytes),
        content_type=request.headers.get("Content-Type", ""),
        address=request.remote_addr,
        now=services.clock(),
        arrived=g.get("started", time.perf_counter()),
    )
    if adapter.verify is not None:
        adapter.verify(received)
    if hook.revoked_at is not None:
        raise HookRevokedError("This hook was revoked.")
    return received


def _identified() -> Received:
    received: Received | None = g.get("received")
    if received is None:
        raise g.get("refusal") or NotAuthenticatedError("The hook was not identified.")
    return received


def _answer_preflight(received: Received, adapter: Adapter) -> Response:
    if adapter.verify is not None:
        return Response(status=405, headers={"Allow": "POST"})
    return static_form.preflight(received)
