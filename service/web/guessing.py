"""Bounds how often an address, and an account, may come with a wrong password or code."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus

from flask import Response
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter

View = Callable[[], ResponseReturnValue]

# Enough for a forgotten password, hopeless for guessing one.
_BY_ADDRESS = "10/minute;60/hour"
FAILURES_BY_NAME = "100/hour"
"""Bounds guessing from many addresses; higher, because others can use it up for a moderator."""
FAILURES_BY_CODE = "20/hour"
"""Only who knows the password can use these up: 20 of a million codes an hour, three fit."""


def limit_failures(
    limiter: Limiter | None, by_whom: Callable[[], str], *, most: str = FAILURES_BY_NAME
) -> Callable[[View], View]:
    """Return what lets a view refuse so many POSTs of an address, and of whom `by_whom` names.

    What it names is hashed; names are not kept. A refusal is a 403 or a 422.
    """
    if limiter is None:
        return lambda view: view

    def limited(view: View) -> View:
        for limit, key in ((_BY_ADDRESS, None), (most, lambda: _hashed(by_whom()))):
            view = limiter.limit(limit, key_func=key, methods=["POST"], deduct_when=_failed)(view)
        return view

    return limited


def _failed(response: Response) -> bool:
    return response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}


def _hashed(name: str) -> str:
    return hashlib.sha256(f"name:{name.casefold()}".encode("utf-8", "replace")).hexdigest()[:32]
