"""The common ground of all pages for people: who may see them, strict headers, error pages."""

from __future__ import annotations

import time
from datetime import timedelta
from http import HTTPStatus

from flask import (
    Blueprint,
    Flask,
    Response,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from flask_limiter import Limiter, RateLimitExceeded
from flask_login import LoginManager, UserMixin, current_user
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException

from service.domain.errors import (
    InvalidInputError,
    ModerationError,
    NotFoundError,
    StoreUnavailableError,
)
from service.domain.user import User
from service.ports import Services
from service.web.auth import is_open
from service.web.config import WebConfig

# A moderator's working day; every request starts it anew.
SESSION_LIFETIME = timedelta(hours=12)
_WITH_ONE_TIME_PASSWORD = frozenset({"pages.password", "pages.sign_out"})
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "form-action 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_ADVICE = {
    HTTPStatus.BAD_REQUEST: ("That was not understood", "Go back and try once more."),
    HTTPStatus.FORBIDDEN: ("Not allowed", "Sign in again and try once more."),
    HTTPStatus.NOT_FOUND: (
        "There is nothing here",
        "The address may be mistyped.",
    ),
    HTTPStatus.METHOD_NOT_ALLOWED: ("Not that way", "Use the buttons of the review page."),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("Too much at once", "No form here needs that much."),
    HTTPStatus.TOO_MANY_REQUESTS: ("Too many tries", "Wait a minute, then try once more."),
    HTTPStatus.SERVICE_UNAVAILABLE: (
        "A part of the service is away",
        "Nothing is lost. Try again in a few seconds.",
    ),
}
_FAULT = ("Something went wrong here", "The fault is on our side; the log says more.")
_STALE_FORM = (
    "This form has expired",
    "Nothing was changed. Load the page anew and try once more.",
)


class SignedIn(UserMixin):  # type: ignore[misc]  # the library ships no types
    """A moderator as the session knows them; a changed password or signing out makes it unknown."""

    def __init__(self, user: User) -> None:
        self.user = user

    def get_id(self) -> str:
        """Return what the session cookie holds."""
        return f"{self.user.session_epoch}.{self.user.id}"


def moderator() -> User:
    """Return who is signed in; only for pages that are not open."""
    user: User = current_user.user
    return user


def make_pages() -> Blueprint:
    """Return a blueprint whose every page asks for a moderator and checks its forms."""
    return Blueprint("pages", __name__, template_folder="templates")


def register_pages(app: Flask, pages: Blueprint, services: Services, config: WebConfig) -> None:
    """Put the pages under the app's sessions, and show its errors to people as pages."""
    app.config.update(
        # With the prefix, browsers take the cookie from nobody but this very host, over HTTPS.
        SESSION_COOKIE_NAME="__Host-slopsieve" if config.https_only_cookies else "slopsieve",
        PERMANENT_SESSION_LIFETIME=SESSION_LIFETIME,
        # Pages renew the session themselves: a style sheet that arrives late must not bring back
        # the cookie of before the last ruling, or of before signing out.
        SESSION_REFRESH_EACH_REQUEST=False,
        # The pages check their own forms below; programs with site keys send no cookies.
        WTF_CSRF_CHECK_DEFAULT=False,
        # A token lives as long as its session, so that a page left open over lunch still works.
        WTF_CSRF_TIME_LIMIT=None,
        # Pages send no referrer; the token and SameSite do this check's work.
        WTF_CSRF_SSL_STRICT=False,
    )
    csrf = CSRFProtect(app)
    _login_manager(services).init_app(app)
    pages.before_request(csrf.protect)
    pages.before_request(_ask_for_moderator)
    pages.after_request(_harden)
    pages.register_error_handler(ModerationError, _on_our_error)
    pages.register_error_handler(CSRFError, _on_stale_form)
    pages.register_error_handler(HTTPException, _on_http_error)
    pages.register_error_handler(RateLimitExceeded, _on_too_many)
    app.register_blueprint(pages)


def error_page(status: int, title: str = "", advice: str = "") -> Response:
    """Return a page that says what went wrong and what to do about it."""
    known = _ADVICE.get(HTTPStatus(status), _FAULT)
    html = render_template(
        "error.html", status=status, title=title or known[0], advice=advice or known[1]
    )
    return _harden(make_response(html, status))


def limiter_of(app: Flask) -> Limiter | None:
    """Return what counts requests for this app, None if nothing does."""
    return next(iter(app.extensions.get("limiter", ())), None)


def safe_next(target: str | None) -> str:
    """Return where to go after signing in: a page for moderators, whatever was asked for."""
    home = url_for("pages.queue")
    if not target or not target.isprintable() or "\\" in target:
        return home
    if target in {home, url_for("pages.callbacks")}:
        return target
    return target if target.startswith((f"{home}/", f"{home}?")) else home


def _login_manager(services: Services) -> LoginManager:
    manager = LoginManager()
    # A moderator's address changes when the phone leaves the house; the session may go along.
    manager.session_protection = None

    @manager.user_loader  # type: ignore[untyped-decorator]  # the library ships no types
    def load(session_id: str) -> SignedIn | None:
        epoch, _, user_id = session_id.partition(".")
        user = services.users.get(user_id)
        return SignedIn(user) if user and str(user.session_epoch) == epoch else None

    return manager


def _ask_for_moderator() -> ResponseReturnValue | None:
    if is_open(current_app.view_functions[request.endpoint or ""]):
        return None
    if not current_user.is_authenticated:
        asked = request.full_path.rstrip("?") if request.method == "GET" else None
        return redirect(url_for("pages.sign_in", next=asked), HTTPStatus.SEE_OTHER)
    if moderator().must_change_password and request.endpoint not in _WITH_ONE_TIME_PASSWORD:
        return redirect(url_for("pages.password"), HTTPStatus.SEE_OTHER)
    session.modified = True
    return None


def _harden(response: Response) -> Response:
    response.headers.update(_HEADERS)
    return response


def _on_our_error(error: ModerationError) -> ResponseReturnValue:
    if isinstance(error, StoreUnavailableError):
        return error_page(HTTPStatus.SERVICE_UNAVAILABLE)
    if isinstance(error, NotFoundError):
        return error_page(HTTPStatus.NOT_FOUND)
    refused = isinstance(error, InvalidInputError)
    return error_page(HTTPStatus.BAD_REQUEST if refused else HTTPStatus.CONFLICT)


def _on_stale_form(_error: CSRFError) -> ResponseReturnValue:
    title, advice = _STALE_FORM
    return error_page(HTTPStatus.FORBIDDEN, title, advice)


def _on_too_many(_error: RateLimitExceeded) -> ResponseReturnValue:
    page = error_page(HTTPStatus.TOO_MANY_REQUESTS)
    limiter = limiter_of(current_app)
    breached = limiter.current_limit if limiter else None
    seconds = breached.reset_at - int(time.time()) if breached else 60
    page.headers["Retry-After"] = str(max(1, seconds))
    return page


def _on_http_error(error: HTTPException) -> ResponseReturnValue:
    if error.code is None or error.code < HTTPStatus.BAD_REQUEST:
        return error
    page = error_page(error.code)
    for name, value in error.get_headers():
        if name in {"Allow", "Retry-After"}:
            page.headers[name] = value
    return page
