"""Lets moderators sign in, sign out, and choose their password."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http import HTTPStatus

from flask import Blueprint, Response, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter
from flask_login import current_user, login_user, logout_user

from service.domain.errors import InvalidInputError, NotAuthenticatedError, Problem
from service.domain.user import User
from service.moderation.users import (
    MIN_PASSWORD_CHARS,
    authenticate_user,
    change_password,
    end_sessions,
)
from service.ports import Services
from service.web.auth import open_to_all
from service.web.pages import SignedIn, moderator, safe_next

View = Callable[[], ResponseReturnValue]
# Enough for a forgotten password, hopeless for guessing one.
_FAILURES_BY_ADDRESS = "10/minute;60/hour"
# Bounds guessing from many addresses; higher, because others can use it up for a moderator.
_FAILURES_BY_NAME = "100/hour"
_REFUSED = "Name and password do not fit."
_REPEAT_DIFFERS = Problem(
    field="repeat", problem="differs from the new password", remedy="type the same twice"
)


def add_login(pages: Blueprint, services: Services, limiter: Limiter | None) -> None:
    """Add the pages for signing in and out and for the password."""

    @open_to_all
    @_limited(limiter)
    def sign_in() -> ResponseReturnValue:
        if current_user.is_authenticated:
            return redirect(url_for("pages.queue"), HTTPStatus.SEE_OTHER)
        if request.method == "GET":
            return _sign_in_page()
        try:
            user = authenticate_user(_typed("name"), _typed("password"), services)
        except NotAuthenticatedError:
            return _sign_in_page(refusal=_REFUSED), HTTPStatus.FORBIDDEN
        _start_session(user)
        target = request.form.get("next")
        return redirect(safe_next(target), HTTPStatus.SEE_OTHER)

    @pages.post("/sign-out")
    def sign_out() -> ResponseReturnValue:
        # First: while the store is away the moderator stays signed in, is told, and tries again.
        end_sessions(moderator(), services)
        logout_user()
        session.clear()
        return redirect(url_for("pages.sign_in"), HTTPStatus.SEE_OTHER)

    @_limited(limiter)
    def password() -> ResponseReturnValue:
        if request.method == "GET":
            return _password_page()
        try:
            changed = _change_password(moderator(), services)
        except InvalidInputError as error:
            return _password_page(error.problems), HTTPStatus.UNPROCESSABLE_ENTITY
        _start_session(changed)
        return redirect(url_for("pages.queue"), HTTPStatus.SEE_OTHER)

    pages.add_url_rule("/sign-in", view_func=sign_in, methods=["GET", "POST"])
    pages.add_url_rule("/password", view_func=password, methods=["GET", "POST"])


def _limited(limiter: Limiter | None) -> Callable[[View], View]:
    """Return what bounds how often an address, and a name, may come with a wrong password."""
    if limiter is None:
        return lambda view: view

    def limited(view: View) -> View:
        for limit, key in ((_FAILURES_BY_ADDRESS, None), (_FAILURES_BY_NAME, _hashed_name)):
            view = limiter.limit(limit, key_func=key, methods=["POST"], deduct_when=_failed)(view)
        return view

    return limited


def _failed(response: Response) -> bool:
    return response.status_code in {HTTPStatus.FORBIDDEN, HTTPStatus.UNPROCESSABLE_ENTITY}


def _hashed_name() -> str:
    """Return what stands for the name that was typed; names are not kept."""
    name = request.form.get("name") or (moderator().name if current_user.is_authenticated else "")
    return hashlib.sha256(f"name:{name.casefold()}".encode("utf-8", "replace")).hexdigest()[:32]


def _start_session(user: User) -> None:
    """Begin anew, so that nothing set before signing in lives on."""
    session.clear()
    session.permanent = True
    login_user(SignedIn(user))


def _typed(field: str) -> str:
    """Return what was typed; what nobody can type (NUL, line breaks) fits no account."""
    value = request.form.get(field, "")
    return value if value.isprintable() else ""


def _change_password(user: User, services: Services) -> User:
    """Change the password, or name all that is wrong with what was typed."""
    new = _typed("new")
    problems: tuple[Problem, ...] = (_REPEAT_DIFFERS,) if new != _typed("repeat") else ()
    if problems:
        raise InvalidInputError(problems)
    return change_password(user, old=_typed("old"), new=new, services=services)


def _sign_in_page(refusal: str = "") -> str:
    asked = request.values.get("next")
    return render_template(
        "sign_in.html",
        refusal=refusal,
        name=request.form.get("name", "")[:100],
        next=safe_next(asked) if asked else "",
    )


def _password_page(problems: tuple[Problem, ...] = ()) -> str:
    return render_template(
        "password.html",
        user=moderator(),
        problems={problem.field: problem for problem in problems},
        min_chars=MIN_PASSWORD_CHARS,
    )
