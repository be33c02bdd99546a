"""Knows a browser again in which a moderator has signed in before.

What others do at the sign-in page is counted apart from it, so that they cannot shut it out.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import timedelta

from flask import Response, current_app, request
from itsdangerous import BadData, URLSafeSerializer

from service.domain.errors import StoreUnavailableError
from service.domain.user import User
from service.ports.services import AccountsPorts, CommonPorts

COOKIE = "slopsieve_device"
# Sent where somebody signs in, and nowhere else.
_PATH = "/sign-in"
_LIFETIME = timedelta(days=365)


def remember_device(response: Response, user: User, common: CommonPorts) -> None:
    """Have the browser keep that this account has signed in there, for a year."""
    value = [user.id, secrets.token_hex(8), int(common.clock().timestamp()), _proof(user)]
    response.set_cookie(
        COOKIE,
        str(_serializer().dumps(value)),
        max_age=_LIFETIME,
        path=_PATH,
        secure=current_app.config["SESSION_COOKIE_SECURE"],
        httponly=True,
        samesite="Lax",
    )


def known_device(accounts: AccountsPorts, common: CommonPorts) -> tuple[User, str] | None:
    """Return who signed in with this browser last, and its id.

    None if nobody did, within a year and with the password of today.
    """
    given = request.cookies.get(COOKIE)
    if given is None:
        return None
    try:
        user_id, device_id, at, proof = _serializer().loads(given)
        user = accounts.users.get(user_id)
    except (BadData, StoreUnavailableError):
        return None
    if user is None or common.clock().timestamp() - at > _LIFETIME.total_seconds():
        return None
    return (user, device_id) if hmac.compare_digest(_proof(user), proof) else None


def _serializer() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt="known device")


def _proof(user: User) -> str:
    """Return what ends with the password: whoever has lost it may have lost the cookie too."""
    return hashlib.sha256(f"device:{user.password_hash}".encode()).hexdigest()[:32]
