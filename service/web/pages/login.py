"""Lets moderators sign in, in two steps if they have a second factor, and choose their password."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from flask import Flask, Response, redirect, render_template, request, session
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter
from flask_login import current_user, login_user, logout_user

from service.domain.errors import InvalidInputError, NotAuthenticatedError
from service.domain.user import Permission, User
from service.moderation.accounts import (
    MAX_PASSWORD_CHARS,
    MIN_PASSWORD_CHARS,
    authenticate_user,
    change_password,
)
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
    needs,
    pages,
    safe_next,
)

# Who has given the password and not yet the code of the second factor.
_PENDING = "second_step"
_PENDING_SECONDS = 300


@pages.route("/sign-in", methods=["GET", "POST"])
@open_to_all
def sign_in() -> ResponseReturnValue:
    if current_user.is_authenticated:
        return go_to("pages.queue")
    if request.method == "GET":
        return _sign_in_page()
    target = safe_next(request.form.get("next"))
    try:
        user = authenticate_user(typed("name"), typed("password"), services)
        if services.second_factors.get(user.id) is None:
            _start_session(user)
            return redirect(target, HTTPStatus.SEE_OTHER)
    except NotAuthenticatedError:
        refusal = gettext("Incorrect name or password.")
        return _sign_in_page(refusal), HTTPStatus.FORBIDDEN
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
        target = safe_next(session[_PENDING].get("next"))
        _start_session(user)
    except NotAuthenticatedError:
        refusal = gettext("Incorrect code, or already used.")
        return render_template("sign_in_code.html", refusal=refusal), HTTPStatus.FORBIDDEN
    return redirect(target, HTTPStatus.SEE_OTHER)


@pages.post("/sign-out")
@needs(Permission.LOOK)
def sign_out() -> ResponseReturnValue:
    # First: while the store is away the moderator stays signed in, is told, and tries again.
    end_session(current_session_id(), moderator(), services)
    logout_user()
    session.clear()
    return go_to("pages.sign_in")


@pages.route("/password", methods=["GET", "POST"])
@needs(Permission.LOOK)
def password() -> ResponseReturnValue:
    if request.method == "GET":
        return _password_page()
    old, new = typed("old"), typed("new")
    if new != typed("repeat"):
        return _password_page(["repeat"]), HTTPStatus.UNPROCESSABLE_ENTITY
    try:
        changed = change_password(moderator(), services, old=old, new=new)
    except InvalidInputError as error:
        wrong = [problem.field for problem in error.problems]
        return _password_page(wrong), HTTPStatus.UNPROCESSABLE_ENTITY
    # A session of its own: a copy of the one so far ends with it.
    _start_session(changed)
    return go_to("pages.queue")


def typed(field: str) -> str:
    """Return what was typed; what nobody can type (NUL, line breaks) fits no account."""
    value = request.form.get(field, "")
    return value if value.isprintable() else ""


def _start_session(user: User) -> None:
    """Begin anew, so that nothing set before signing in lives on."""
    begun = begin_session(user, services, user_agent=request.headers.get("User-Agent"))
    session.clear()
    session.permanent = True
    choose_language(user.preferences.language)
    login_user(SignedIn(user, begun.id))


def _half_signed_in() -> User | None:
    """Return who gave their password within five minutes, if it is still the password."""
    pending = session.get(_PENDING)
    if pending is None:
        return None
    age_seconds = services.clock().timestamp() - pending["at"]
    user = services.users.get(pending["user"])
    if user is None or user.ended_at is not None or age_seconds > _PENDING_SECONDS:
        return None
    return user if hmac.compare_digest(_proof(user), pending["proof"]) else None


def pending_id() -> str:
    """Return who has given their password in this browser, empty for nobody."""
    return str(session.get(_PENDING, {}).get("user", ""))


def _proof(user: User) -> str:
    """Return what ties the first step to the password that was given in it."""
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
        min_chars=MIN_PASSWORD_CHARS,
        max_chars=MAX_PASSWORD_CHARS,
    )


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
