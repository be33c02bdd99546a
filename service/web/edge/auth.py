"""Authentication: every route needs a site key unless it is marked open."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Callable
from typing import Any, TypeVar

from flask import g, request

from service.domain.errors import ModerationError, NotAuthenticatedError
from service.domain.site import Site
from service.moderation.sites import authenticate_site
from service.web.edge.current import services

F = TypeVar("F", bound=Callable[..., Any])

# The names of the blueprints.
API = "api"  # whose every route needs a site key
HOOKS = "hooks"  # whose route checks the signature of the platform that calls
AKISMET = "akismet"  # whose routes look for keys of their own kind
PUBLIC = "public"  # which shows anybody what sites let them read
PAGES = "pages"  # for moderators: each page asks who is signed in
PROGRAMS = frozenset({API, HOOKS, AKISMET, PUBLIC})
"""The blueprints that programs call: they send no cookies and are given none."""

METRICS = "/metrics"
"""The path that only the operator may read."""

_OPEN = "open_to_all"
_SCHEME = "bearer "
# Our keys have 48 characters; nothing longer is worth hashing.
_MAX_SECRET_CHARS = 200
# With one of these a proxy spoke for somebody who may be anywhere.
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")


def open_to_all(view: F) -> F:
    """Mark a view as one that strangers may call. A guard test lists all that are not."""
    setattr(view, _OPEN, True)
    return view


def is_open(view: Callable[..., Any]) -> bool:
    """Return True if a view is marked as open to strangers."""
    return bool(getattr(view, _OPEN, False))


def presented_secret() -> str | None:
    """Return the secret that came with the request, if any did."""
    given = request.headers.get("Authorization", "")
    if not given.lower().startswith(_SCHEME) or len(given) > _MAX_SECRET_CHARS:
        return None
    return given[len(_SCHEME) :].strip() or None


def identify_site() -> None:
    """Find out whose key came along, before anything is counted or refused.

    Refusing is left to `current_site`, so that failures can be counted in between.
    """
    g.site = None
    if request.blueprint != API:
        return
    secret = presented_secret()
    if secret is None:
        g.refusal = NotAuthenticatedError("Send your site key as Authorization: Bearer slop_….")
        return
    try:
        g.site = authenticate_site(secret, services)
    except ModerationError as refusal:
        g.refusal = refusal


def has_site() -> bool:
    """Return True if the request has a valid site key."""
    return g.get("site") is not None


def current_site() -> Site:
    """Return the site whose key came along.

    Raises `NotAuthenticatedError` if no valid key did, or what kept us from knowing.
    """
    if not has_site():
        raise g.get("refusal") or NotAuthenticatedError("A site key is needed.")
    site: Site = g.site
    return site


def may_read_metrics(token: str | None) -> bool:
    """Return True if the request has the token, or comes from this machine where none is set."""
    if token is not None:
        given = presented_secret() or ""
        return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())
    if any(name in request.headers for name in _FORWARDED):
        return False
    try:
        return ipaddress.ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
