"""Bounds how often passwords and codes are guessed: by address, by account, by session."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus

from flask import Response
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter
from flask_login import current_user

from service.web.pages.common.pages import current_session_id

View = Callable[[], ResponseReturnValue]

# Enough for a forgotten password, hopeless for guessing one.
_BY_ADDRESS = "10/minute;60/hour"
_BY_SESSION = "20/hour"
TRIES_BY_NAME = "100/hour"
"""Bounds guessing from many addresses: 2,400 passwords of an account a day."""
TRIES_BY_CODE = "20/hour"
"""Only who knows the password can use these up: 480 of a million codes a day, three fit."""


def limit_tries(
    limiter: Limiter | None, by_whom: Callable[[], str], *, most: str = TRIES_BY_NAME
) -> Callable[[View], View]:
    """Return a decorator that limits the POSTs of a view for strangers.

    An address's failures count, a 403 or a 422, and every try at what `by_whom` names. Names are
    hashed, not kept.
    """
    if limiter is None:
        return lambda view: view

    def limited(view: View) -> View:
        # The last is looked at first: what it refuses does not count as a try.
        by_name = limiter.limit(most, key_func=lambda: _hashed(by_whom()), methods=["POST"])(view)
        return limiter.limit(_BY_ADDRESS, methods=["POST"], deduct_when=_failed)(by_name)

    return limited


def limit_own_tries(limiter: Limiter | None) -> Callable[[View], View]:
    """Return a decorator that limits the failed POSTs of a session, for who is signed in."""
    if limiter is None:
        return lambda view: view
    return limiter.limit(
        _BY_SESSION,
        key_func=lambda: _hashed(current_session_id()),
        methods=["POST"],
        deduct_when=_failed,
        exempt_when=lambda: not current_user.is_authenticated,
    )


def _failed(response: Response) -> bool:
    return response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}


def _hashed(name: str) -> str:
    return hashlib.sha256(f"name:{name.casefold()}".encode("utf-8", "replace")).hexdigest()[:32]
