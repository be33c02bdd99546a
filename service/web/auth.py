"""Says who may call what: every route needs a site key unless it is marked open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import g, request

from service.domain.errors import NotAuthenticatedError
from service.domain.site import Site
from service.moderation.sites import authenticate_site
from service.ports import Services

F = TypeVar("F", bound=Callable[..., Any])

_OPEN = "open_to_all"
_SCHEME = "bearer "
# Our keys have 48 characters; nothing longer is worth hashing.
_MAX_SECRET_CHARS = 200


def open_to_all(view: F) -> F:
    """Mark a view as one that strangers may call. A guard test lists all that are not."""
    setattr(view, _OPEN, True)
    return view


def is_open(view: Callable[..., Any]) -> bool:
    """Say whether a view is marked as open to strangers."""
    return bool(getattr(view, _OPEN, False))


def presented_secret() -> str | None:
    """Return the secret that came with the request, if any did."""
    given = request.headers.get("Authorization", "")
    if not given.lower().startswith(_SCHEME) or len(given) > _MAX_SECRET_CHARS:
        return None
    return given[len(_SCHEME) :].strip() or None


def authenticate(services: Services) -> None:
    """Remember the site whose key came along. Raises `NotAuthenticatedError` otherwise."""
    secret = presented_secret()
    if secret is None:
        raise NotAuthenticatedError("Send your site key as Authorization: Bearer slop_….")
    g.site = authenticate_site(secret, services)


def current_site() -> Site:
    """Return the site that was authenticated for this request."""
    site = g.get("site")
    if not isinstance(site, Site):
        raise NotAuthenticatedError("Send your site key as Authorization: Bearer slop_….")
    return site
