"""Serves every call of the Akismet protocol, under both of its versions."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flask import Blueprint, Flask, Response, g, request

from service.domain.errors import ModerationError, NotAuthenticatedError
from service.domain.report import Label
from service.ports.services import Services
from service.web.akismet import account, answers
from service.web.akismet.call import AkismetCall, presented_key, read_fields
from service.web.akismet.check import CommentCheck
from service.web.akismet.feedback import take_report
from service.web.akismet.key_cache import KeyCache
from service.web.akismet.verify import verify_key
from service.web.edge.auth import AKISMET, open_to_all
from service.web.edge.errors import EdgeError
from service.web.edge.limits import hashed_address
from service.web.edge.line import Submit
from service.web.edge.verdict_waiter import VerdictWaiter

log = logging.getLogger(__name__)

# Clients use the one or the other for the same call; which is which is in no client's tests.
_VERSIONS = ("1.1", "1.2")
_CHECK = "comment-check"
# What is wrong with a request is told in a plain answer, as clients read bodies, not statuses.
_OUR_STATUS = range(400, 500)
_KEPT_STATUS = frozenset({404, 405, 429})

View = Callable[[AkismetCall], Response]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    """One call: how it is asked and what answers it; `open` ones need no key."""

    view: View
    methods: tuple[str, ...] = ("POST",)
    open: bool = False


def register_akismet(app: Flask, services: Services, submit: Submit, waiter: VerdictWaiter) -> None:
    """Serve the calls under `/1.1/` and `/1.2/`; whatever host name they are asked under."""
    blueprint = Blueprint(AKISMET, __name__)
    for name, operation in _operations(services, submit, waiter).items():
        view = _view_of(operation)
        if operation.open:
            open_to_all(view)
        for version in _VERSIONS:
            blueprint.add_url_rule(
                f"/{version}/{name}",
                endpoint=f"{name}-{version.replace('.', '-')}",
                view_func=view,
                methods=list(operation.methods),
                provide_automatic_options=False,
            )
    app.register_blueprint(blueprint)
    app.after_request(_speak_akismet)


def identify_akismet(services: Services, key_cache: KeyCache) -> None:
    """Read an Akismet call and find out whose key came along, before anything is counted.

    What goes wrong is raised by the view, so that failures are counted in between.
    """
    if request.blueprint != AKISMET or request.url_rule is None:
        return
    g.guid = answers.new_guid()
    name = request.url_rule.rule.rpartition("/")[2]
    try:
        g.akismet = _identify(name, services, key_cache)
    except (ModerationError, EdgeError) as refusal:
        g.refusal = refusal


def _identify(name: str, services: Services, key_cache: KeyCache) -> AkismetCall:
    fields = read_fields(request)
    secret = presented_key(name, fields, request.environ.get("HTTP_HOST", ""))
    site, key = None, None
    if secret is not None:
        try:
            site, key = key_cache.recognise(secret)
        except NotAuthenticatedError:
            g.wrong_key = True
            address = hashed_address(services.sender_secret)
            log.warning("Akismet key refused", extra={"address": address, "call": name})
    g.site = site
    return AkismetCall(
        name=name,
        fields=fields,
        user_agent=request.headers.get("User-Agent", ""),
        key_was_sent=secret is not None,
        site=site,
        key=key,
    )


def _operations(
    services: Services, submit: Submit, waiter: VerdictWaiter
) -> Mapping[str, _Operation]:
    either = ("GET", "POST")

    checks = CommentCheck(services, submit, waiter)

    def check(call: AkismetCall) -> Response:
        return checks.answer(call, g.guid, arrived=g.get("started", time.perf_counter()))

    return {
        "verify-key": _Operation(view=lambda call: verify_key(call, services)),
        _CHECK: _Operation(view=check),
        "submit-spam": _Operation(view=lambda call: take_report(call, Label.SPAM, services)),
        "submit-ham": _Operation(view=lambda call: take_report(call, Label.HAM, services)),
        "get-subscription": _asked(account.get_subscription, services),
        "get-stats": _asked(account.get_stats, services),
        "token": _asked(account.token, services),
        "deactivate": _asked(account.deactivate, services),
        "test": _Operation(
            view=lambda _: answers.text(answers.CONNECTED), methods=either, open=True
        ),
        "compatible-plugins": _Operation(
            view=lambda _: answers.as_json([]), methods=either, open=True
        ),
    }


def _asked(answer: Callable[[AkismetCall, Services], Response], services: Services) -> _Operation:
    return _Operation(view=lambda call: answer(call, services))


def _view_of(operation: _Operation) -> Callable[[], Response]:
    def serve() -> Response:
        refusal = g.get("refusal")
        if refusal is not None and not operation.open:
            raise refusal
        call = g.get("akismet") or AkismetCall(name="", fields={})
        response = operation.view(call)
        g.akismet_answered = True
        return response

    return serve


def _speak_akismet(response: Response) -> Response:
    """Return the error in the protocol's form, never in words that read like a verdict.

    WordPress publishes what it gets no answer for, and holds what it gets a strange one for, if
    only a guid is there; it does not look at the status at all.
    """
    if not _is_akismet() or g.get("akismet_answered"):
        return response
    document = response.get_json(silent=True, force=True)
    detail = document.get("detail") if isinstance(document, dict) else None
    said = answers.header_text(str(detail or "The call was not answered."))
    response.set_data(said)
    response.content_type = "text/plain; charset=utf-8"
    response.headers[answers.DEBUG_HELP] = said
    if request.path.endswith(f"/{_CHECK}"):
        response.headers[answers.GUID] = g.get("guid") or answers.new_guid()
        response.headers[answers.ERROR] = said
    if response.status_code in _OUR_STATUS and response.status_code not in _KEPT_STATUS:
        response.status_code = 200
    return response


def _is_akismet() -> bool:
    return request.path.startswith(tuple(f"/{version}/" for version in _VERSIONS))
