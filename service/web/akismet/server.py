"""Serves every call of the Akismet protocol, under both versions of its URLs."""

import logging
import time
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from flask import Blueprint, Flask, Response, current_app, g, request

from service.domain.comment import Label
from service.domain.errors import NotAuthenticatedError
from service.domain.site import Site, SiteKey
from service.moderation.sites import authenticate_akismet
from service.web.akismet import answers, views
from service.web.akismet.call import AkismetCall, presented_key, read_fields
from service.web.edge.auth import AKISMET, open_to_all, raise_refusal
from service.web.edge.coalescer import Coalescer
from service.web.edge.current import services
from service.web.edge.limits import hashed_address

log = logging.getLogger(__name__)

# Clients use either version for the same call.
_VERSIONS = ("1.1", "1.2")
_PATHS = tuple(f"/{version}/" for version in _VERSIONS)
_CHECK = "comment-check"
_KEYS = "slopsieve_akismet_keys"
# A revoked key or a changed setting takes effect within this time. At 200 checks a second, queries
# for every key would take a tenth of the process's time.
_KEY_SECONDS = 1.0

View = Callable[[AkismetCall], Response]

_CALLS: Mapping[str, View] = {
    "verify-key": views.verify_key,
    _CHECK: views.check_comment,
    "submit-spam": partial(views.take_report, label=Label.SPAM),
    "submit-ham": partial(views.take_report, label=Label.HAM),
    "get-subscription": views.get_subscription,
    "get-stats": views.get_stats,
    # Only for frames of the vendor's own site.
    "token": lambda _call: answers.text(""),
    # The key stays valid for when the plugin is activated again.
    "deactivate": lambda _call: answers.text("deactivated"),
}
# Calls without a key, also by GET.
_OPEN: Mapping[str, Callable[[], Response]] = {
    "test": lambda: answers.text("connected"),
    "compatible-plugins": lambda: answers.as_json([]),
}


def _authenticate(secret: str, _window: float) -> tuple[Site, SiteKey]:
    return authenticate_akismet(secret, services)


def register_akismet(app: Flask) -> None:
    """Serve the calls under `/1.1/` and `/1.2/`, on any host name."""
    # Enough for a few hundred sites.
    app.extensions[_KEYS] = lru_cache(maxsize=1_000)(_authenticate)
    app.extensions[views.PROMISES] = Coalescer(views.add_deliveries)
    blueprint = Blueprint(AKISMET, __name__)
    blueprint.before_request(raise_refusal)
    served = {name: (_with_call(view), ["POST"]) for name, view in _CALLS.items()}
    served |= {name: (open_to_all(view), ["GET", "POST"]) for name, view in _OPEN.items()}
    for name, (view, methods) in served.items():
        for version in _VERSIONS:
            blueprint.add_url_rule(
                f"/{version}/{name}",
                endpoint=f"{name}-{version.replace('.', '-')}",
                view_func=view,
                methods=methods,
            )
    app.register_blueprint(blueprint)
    app.after_request(_to_akismet_format)


def _with_call(view: View) -> Callable[[], Response]:
    def serve() -> Response:
        if "akismet" not in g:
            if "wrong_key" in g:
                return answers.refused("The API key is unknown, expired or revoked.")
            return answers.refused("The API key is missing: send it as api_key, or as key.")
        return view(g.akismet)

    return serve


def identify_akismet() -> None:
    """Read an Akismet call and authenticate its key."""
    g.guid = answers.new_guid()
    name = request.path.rpartition("/")[2]
    if name not in _CALLS:
        return
    fields = read_fields()
    secret = presented_key(name, fields, request.environ.get("HTTP_HOST", ""))
    if secret is None:
        return
    try:
        g.site, key = current_app.extensions[_KEYS](secret, time.monotonic() // _KEY_SECONDS)
    except NotAuthenticatedError:
        # The view's response is no error.
        g.wrong_key = True
        log.warning("Akismet key refused", extra={"address": hashed_address(), "call": name})
        return
    g.client = f"akismet:{g.site.id}"
    user_agent = request.headers.get("User-Agent", "")
    g.akismet = AkismetCall(name=name, fields=fields, user_agent=user_agent, site=g.site, key=key)


def _to_akismet_format(response: Response) -> Response:
    """Convert an error to the protocol's form, which never reads like a verdict.

    WordPress publishes a comment without a response. It holds one whose response has a guid and an
    unknown body, and ignores the status.
    """
    if not request.path.startswith(_PATHS):
        return response
    is_check = request.path.endswith(f"/{_CHECK}")
    if is_check:
        response.headers[answers.GUID] = g.get("guid") or answers.new_guid()
    if response.mimetype in answers.MEDIA:
        return response
    document = response.get_json(silent=True, force=True)
    detail = document.get("detail") if isinstance(document, dict) else None
    said = answers.header_text(str(detail or "The call was not answered."))
    response.set_data(said)
    response.content_type = answers.TEXT
    response.headers[answers.DEBUG_HELP] = said
    if is_check:
        response.headers[answers.ERROR] = said
    # Clients read bodies, not statuses.
    if response.status_code in range(400, 500) and response.status_code not in (404, 405, 429):
        response.status_code = 200
    return response
