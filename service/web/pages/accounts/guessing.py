"""Bounds how often passwords and codes are guessed: by address, by account, by session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from flask import Flask, Response
from flask_limiter import Limiter
from flask_login import current_user

from service.web.edge.limits import limiter_of
from service.web.pages.accounts.login import pending_id, typed
from service.web.pages.common.pages import current_session_id

View = Callable[..., Any]

# Enough for a forgotten password, hopeless for guessing one.
_BY_ADDRESS = "10/minute;60/hour"
_BY_SESSION = "20/hour"
TRIES_BY_NAME = "100/hour"
"""Bounds guessing from many addresses: 2,400 passwords of an account a day."""
TRIES_BY_CODE = "20/hour"
"""Only who knows the password can use these up: 480 of a million codes a day, three fit."""
_BY_STRANGERS = (
    ("pages.sign_in", TRIES_BY_NAME, lambda: typed("name")),
    ("pages.sign_in_code", TRIES_BY_CODE, lambda: f"code:{pending_id()}"),
)
_BY_MODERATORS = (
    "pages.password",
    "pages.offer_factor",
    "pages.confirm_factor",
    "pages.renew_codes",
    "pages.turn_off_factor",
)


def limit_guessing(app: Flask) -> None:
    """Bound how often passwords and codes are tried."""
    limiter, views = limiter_of(app), app.view_functions
    for endpoint, most, by_whom in _BY_STRANGERS:
        views[endpoint] = _limit_tries(limiter, views[endpoint], most, by_whom)
    for endpoint in _BY_MODERATORS:
        views[endpoint] = _limit_own_tries(limiter, views[endpoint])


def _limit_tries(limiter: Limiter, view: View, most: str, by_whom: Callable[[], str]) -> View:
    """Limit the POSTs of a view for strangers.

    An address's failures count, a 403 or a 422, and every try at what `by_whom` names. Names are
    hashed, not kept.
    """
    # The last is looked at first: what it refuses does not count as a try.
    by_name = limiter.limit(most, key_func=lambda: _hashed(by_whom()), methods=["POST"])(view)
    return limiter.limit(_BY_ADDRESS, methods=["POST"], deduct_when=_failed)(by_name)


def _limit_own_tries(limiter: Limiter, view: View) -> View:
    """Limit the failed POSTs of a session, for who is signed in."""
    return limiter.limit(
        _BY_SESSION,
        key_func=lambda: _hashed(current_session_id()),
        methods=["POST"],
        deduct_when=_failed,
        exempt_when=lambda: not current_user.is_authenticated,
    )(view)


def _failed(response: Response) -> bool:
    return response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}


def _hashed(name: str) -> str:
    return hashlib.sha256(f"name:{name.casefold()}".encode("utf-8", "replace")).hexdigest()[:32]
