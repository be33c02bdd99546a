"""Authentication: every route needs a site key unless it is marked open."""

import hashlib
import hmac
import ipaddress
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from flask import current_app, g, request

from service.domain.errors import ModerationError, NotAuthenticatedError
from service.domain.site import Site
from service.moderation.sites import authenticate_site
from service.web.edge.current import services

F = TypeVar("F", bound=Callable[..., Any])

# The names of the blueprints.
API = "api"  # every route needs a site key
HOOKS = "hooks"  # the route checks the platform's signature
AKISMET = "akismet"  # every call needs an Akismet key, with few exceptions
PUBLIC = "public"  # open to everybody
PAGES = "pages"  # the moderators' pages, which need a session
PROGRAMS = frozenset({API, HOOKS, AKISMET, PUBLIC})
"""The blueprints for programs: their responses set no cookies."""

METRICS = "/metrics"
"""The path that only the operator may read."""

_OPEN = "open_to_all"
_SCHEME = "bearer "
# Site keys have 48 characters; a longer secret is not hashed.
_MAX_SECRET_CHARS = 200
# A request with one of these headers came through a proxy, so its client may be anywhere.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")


def open_to_all(view: F) -> F:
    """Mark a view that needs no key and no session. A guard test lists all such views."""
    setattr(view, _OPEN, True)
    return view


def is_open(view: Callable[..., Any]) -> bool:
    return bool(getattr(view, _OPEN, False))


def presented_secret() -> str | None:
    """Return the request's bearer token, or None."""
    given = request.headers.get("Authorization", "")
    if not given.lower().startswith(_SCHEME) or len(given) > _MAX_SECRET_CHARS:
        return None
    return given[len(_SCHEME) :].strip() or None


def identify_client(by_blueprint: Mapping[str, Callable[[], None]]) -> None:
    """Call the function of the request's blueprint, which authenticates the client.

    This runs before the rate limits, which count failures. `raise_refusal` raises them later.
    """
    identify = by_blueprint.get(request.blueprint or "")
    try:
        if identify:
            identify()
    except ModerationError as refusal:
        g.refusal = refusal


def raise_refusal() -> None:
    """Raise what `identify_client` caught."""
    if "refusal" in g:
        raise g.refusal


def identify_site() -> None:
    """Authenticate the site key. Raises `NotAuthenticatedError`."""
    secret = presented_secret()
    if secret is None:
        raise NotAuthenticatedError("Send your site key as Authorization: Bearer slop_….")
    g.site = authenticate_site(secret, services)
    # The limiter's name for the key, without the key itself.
    g.client = hashlib.sha256(b"limit:" + secret.encode("utf-8", "replace")).hexdigest()[:32]


def has_site() -> bool:
    """Return True if the request has a valid key of a site."""
    return "site" in g


def current_site() -> Site:
    site: Site = g.site
    return site


def may_read_metrics() -> bool:
    """Return True if the request has the token, or, if none is set, comes from this machine."""
    token: str | None = current_app.config["METRICS_TOKEN"]
    if token is not None:
        given = presented_secret() or ""
        return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
