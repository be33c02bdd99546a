"""The pages to sign in, with a second factor if there is one, and to change the password."""

import hashlib
import hmac
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user, login_user, logout_user

from service.domain.errors import InvalidInputError, NotAuthenticatedError
from service.domain.unseen import is_printable
from service.domain.user import Permission, User
from service.moderation import accounts
from service.moderation.signing_in import begin_session, check_second_factor, end_session
from service.web.edge.auth import open_to_all
from service.web.edge.current import services
from service.web.edge.language import choose_language, gettext
from service.web.edge.limits import limiter_of
from service.web.pages.blueprint import (
    SignedIn,
    current_session_id,
    go_to,
    moderator,
    pages,
    safe_next,
)

# The session's key for a sign-in that waits for the second factor.
_PENDING = "second_step"
_PENDING_SECONDS = 300
# Failures of one address and of one session.
_BY_ADDRESS = "10/minute;60/hour"
_BY_SESSION = "20/hour"
TRIES_BY_NAME = "100/hour"
"""Limits guessing from many addresses to 2,400 passwords of an account a day."""
TRIES_BY_CODE = "20/hour"
"""Only tries after the right password count: 480 of a million codes a day, three are valid."""
_BY_STRANGERS = (
    ("pages.sign_in", TRIES_BY_NAME, lambda: _hashed(typed("name"))),
    ("pages.sign_in_code", TRIES_BY_CODE, lambda: _hashed(f"code:{_pending().get('user', '')}")),
)
_BY_MODERATORS = (
    "pages.password",
    "pages.offer_factor",
    "pages.confirm_factor",
    "pages.renew_codes",
    "pages.turn_off_factor",
)


@pages.route("/sign-in", methods=["GET", "POST"])
@open_to_all
def sign_in() -> ResponseReturnValue:
    if current_user.is_authenticated:
        return go_to("pages.queue")
    if request.method == "GET":
        return _sign_in_page()
    target = safe_next(request.form.get("next"))
    try:
        user = accounts.authenticate_user(typed("name"), typed("password"), services)
        if services.second_factors.get(user.id) is None:
            _start_session(user)
            return redirect(target, HTTPStatus.SEE_OTHER)
    except NotAuthenticatedError:
        return _sign_in_page(gettext("Incorrect name or password.")), HTTPStatus.FORBIDDEN
    session.clear()
    session[_PENDING] = {
        "user": user.id,
        "at": int(services.clock().timestamp()),
        "proof": _proof(user),
        "next": target,
    }
    return go_to("pages.sign_in_code")


@pages.route("/sign-in/code", methods=["GET", "POST"])
@open_to_all
def sign_in_code() -> ResponseReturnValue:
    user = _half_signed_in()
    if user is None:
        session.pop(_PENDING, None)
        return go_to("pages.sign_in")
    if request.method == "GET":
        return render_template("sign_in_code.html", refusal="")
    try:
        check_second_factor(user, typed("code"), services)
        target = safe_next(_pending().get("next"))
        _start_session(user)
    except NotAuthenticatedError:
        refusal = gettext("Incorrect code, or already used.")
        return render_template("sign_in_code.html", refusal=refusal), HTTPStatus.FORBIDDEN
    return redirect(target, HTTPStatus.SEE_OTHER)


@pages.post("/sign-out", needs=Permission.LOOK)
def sign_out() -> ResponseReturnValue:
    # First, so that the moderator stays signed in and can retry if the store fails.
    end_session(current_session_id(), moderator(), services)
    logout_user()
    session.clear()
    return go_to("pages.sign_in")


@pages.route("/password", methods=["GET", "POST"], needs=Permission.LOOK)
def password() -> ResponseReturnValue:
    if request.method == "GET":
        return _password_page()
    old, new = typed("old"), typed("new")
    if new != typed("repeat"):
        return _password_page(["repeat"]), HTTPStatus.UNPROCESSABLE_ENTITY
    try:
        changed = accounts.change_password(moderator(), services, old=old, new=new)
    except InvalidInputError as error:
        wrong = [problem.field for problem in error.problems]
        return _password_page(wrong), HTTPStatus.UNPROCESSABLE_ENTITY
    # A new session, so that stolen cookies of the old one are invalid.
    _start_session(changed)
    return go_to("pages.queue")


def typed(field: str) -> str:
    """Return a form's field, or an empty string if it has unprintable characters."""
    value = request.form.get(field, "")
    return value if is_printable(value) else ""


def _start_session(user: User) -> None:
    """Start a new session without any value from before signing in."""
    begun = begin_session(user, services, user_agent=request.headers.get("User-Agent"))
    session.clear()
    session.permanent = True
    choose_language(user.preferences.language)
    login_user(SignedIn(user, begun.id))


def _pending() -> dict[str, Any]:
    pending: dict[str, Any] = session.get(_PENDING, {})
    return pending


def _half_signed_in() -> User | None:
    """Return the user who gave their password within five minutes, if it is still valid."""
    pending = _pending()
    user = services.users.get(pending["user"]) if pending else None
    if user is None or user.ended_at is not None:
        return None
    is_late = services.clock().timestamp() - pending["at"] > _PENDING_SECONDS
    return user if not is_late and hmac.compare_digest(_proof(user), pending["proof"]) else None


def _proof(user: User) -> str:
    """Return a hash that changes with the password, so that a change ends a pending sign-in."""
    return hashlib.sha256(f"first step:{user.password_hash}".encode()).hexdigest()[:32]


def _sign_in_page(refusal: str = "") -> str:
    asked = request.values.get("next")
    return render_template(
        "sign_in.html",
        refusal=refusal,
        name=request.form.get("name", "")[:100],
        next=safe_next(asked) if asked else "",
    )


def _password_page(wrong: Sequence[str] = ()) -> str:
    return render_template(
        "password.html",
        user=moderator(),
        wrong=wrong,
        chars=len(typed("new")),
        min_chars=accounts.MIN_PASSWORD_CHARS,
        max_chars=accounts.MAX_PASSWORD_CHARS,
    )


def limit_guessing(app: Flask) -> None:
    """Limit failures by address and by session, and all tries by hashed user name."""
    limiter, views = limiter_of(app), app.view_functions
    failures: dict[str, Any] = {"methods": ["POST"], "deduct_when": _failed}
    for endpoint, most, key in _BY_STRANGERS:
        # The outer limit is checked first: a request that it refuses does not count as a try.
        by_name: Any = limiter.limit(most, key_func=key, methods=["POST"])
        by_address: Any = limiter.limit(_BY_ADDRESS, **failures)
        views[endpoint] = by_address(by_name(views[endpoint]))
    for endpoint in _BY_MODERATORS:
        by_session: Any = limiter.limit(
            _BY_SESSION,
            key_func=lambda: _hashed(current_session_id()),
            exempt_when=lambda: not current_user.is_authenticated,
            **failures,
        )
        views[endpoint] = by_session(views[endpoint])


def _failed(response: Response) -> bool:
    return response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}


def _hashed(name: str) -> str:
    return hashlib.sha256(f"name:{name.casefold()}".encode("utf-8", "replace")).hexdigest()[:32]
