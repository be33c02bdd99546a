"""Bounds how often passwords and codes are guessed, and lets no guesser shut a moderator out.

Whoever is known, by a session or by a browser that has signed in before, is counted alone. All
others are counted by address and, together, by account: nothing tells a moderator among them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus

from flask import Response, g
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter

View = Callable[[], ResponseReturnValue]

# Enough for a forgotten password, hopeless for guessing one.
_BY_ADDRESS = "10/minute;60/hour"
_BY_KNOWN = "20/hour"
TRIES_BY_NAME = "100/hour"
"""Bounds guessing from many addresses: 2,400 passwords of an account a day."""
TRIES_BY_CODE = "20/hour"
"""Only who knows the password can use these up: 480 of a million codes a day, three fit."""


def limit_tries(
    limiter: Limiter | None,
    by_whom: Callable[[], str],
    known: Callable[[], str | None],
    *,
    most: str = TRIES_BY_NAME,
) -> Callable[[View], View]:
    """Return what lets a view refuse so many POSTs of whoever is not known.

    `known` names who is, and their failures alone count, a 403 or a 422. Of others an address's
    failures count, and every try at what `by_whom` names. Names are hashed, not kept.
    """
    if limiter is None:
        return lambda view: view

    def who() -> str | None:
        if "known_guesser" not in g:
            g.known_guesser = known()
        return str(g.known_guesser) if g.known_guesser else None

    def limited(view: View) -> View:
        # The last is looked at first: what it refuses does not count as a try.
        for limit, key, deduct_when in (
            (most, lambda: _hashed(by_whom()), None),
            (_BY_ADDRESS, None, _failed),
        ):
            view = limiter.limit(
                limit,
                key_func=key,
                methods=["POST"],
                deduct_when=deduct_when,
                exempt_when=lambda: who() is not None,
            )(view)
        return limiter.limit(
            _BY_KNOWN,
            key_func=lambda: _hashed(who() or ""),
            methods=["POST"],
            deduct_when=_failed,
            exempt_when=lambda: who() is None,
        )(view)

    return limited


def _failed(response: Response) -> bool:
    return response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}


def _hashed(name: str) -> str:
    return hashlib.sha256(f"name:{name.casefold()}".encode("utf-8", "replace")).hexdigest()[:32]
