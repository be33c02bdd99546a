"""The blueprint of the pages for moderators: access, sessions, headers, forms, error pages."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    flash,
    g,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from flask_login import LoginManager, UserMixin, current_user
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from service.domain.case import MAX_COUNTED, Case
from service.domain.comment import CommentId, SiteId
from service.domain.user import IDLE_LIFETIME, Permission, User
from service.moderation.decisions import MAX_NOTE_CHARS
from service.moderation.signing_in import find_session
from service.web.edge.auth import PAGES, is_open
from service.web.edge.config import WebConfig
from service.web.edge.current import services
from service.web.edge.fields import is_id
from service.web.edge.language import gettext

F = TypeVar("F", bound=Callable[..., Any])

pages = Blueprint(PAGES, __name__)
"""The pages for moderators: each asks who is signed in and checks its forms."""

_WITH_ONE_TIME_PASSWORD = frozenset({"pages.password", "pages.sign_out"})
# Where a second factor is asked for of everybody, who has none comes no further than this.
_WITHOUT_SECOND_FACTOR = _WITH_ONE_TIME_PASSWORD | {
    "pages.second_factor",
    "pages.offer_factor",
    "pages.confirm_factor",
}
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "form-action 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types slopsieve"
)


_csrf = CSRFProtect()
_logins = LoginManager()
# A moderator's address changes when the phone leaves the house; the session may go along.
_logins.session_protection = None


class SignedIn(UserMixin):  # type: ignore[misc]  # the library ships no types
    """A moderator in one of their sessions; the session cookie holds its id."""

    def __init__(self, user: User, session_id: str) -> None:
        self.user = user
        self.id = session_id


def moderator() -> User:
    """Return the signed-in user; only for pages that are not open."""
    user: User = current_user.user
    return user


def current_session_id() -> str:
    """Return in which session they are signed in; only for pages that are not open."""
    session_id: str = current_user.id
    return session_id


def needs(permission: Permission) -> Callable[[F], F]:
    """Mark a page as one that only accounts with this permission may call.

    Every page that changes anything has a mark. `require` asks for one site.
    """

    def mark(view: F) -> F:
        view.needs_permission = permission  # type: ignore[attr-defined]  # read by `needed`
        return view

    return mark


def needed(view: Callable[..., Any]) -> Permission | None:
    """Return what an account must be allowed to call this page, None for one without a mark."""
    return getattr(view, "needs_permission", None)


def require(permission: Permission, site_id: SiteId) -> None:
    """Abort unless the signed-in user may do this at this site; 404 if they don't see it."""
    user = moderator()
    if not user.sees(site_id):
        abort(HTTPStatus.NOT_FOUND)
    if not user.may(permission, site_id):
        abort(HTTPStatus.FORBIDDEN)


def register_blueprint(app: Flask, config: WebConfig) -> None:
    """Put the pages under the app's sessions, and show its errors to people as pages."""
    app.config.update(
        REQUIRE_SECOND_FACTOR=config.require_second_factor,
        RETRAIN_DATA=config.retrain_data,
        # With the prefix, browsers take the cookie from nobody but this very host, over HTTPS.
        SESSION_COOKIE_NAME="__Host-slopsieve" if config.https_only_cookies else "slopsieve",
        PERMANENT_SESSION_LIFETIME=IDLE_LIFETIME,
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
    _csrf.init_app(app)
    _logins.init_app(app)
    app.register_blueprint(pages)


def error_page(status: int, title: str = "", advice: str = "") -> Response:
    """Return a page that says what went wrong and what to do, in texts of the reader's language."""
    html = render_template("error.html", status=status, title=title, advice=advice)
    return _harden(make_response(html, status))


def seen_case(comment_id: str, permission: Permission = Permission.LOOK) -> Case:
    """Return a comment; end the request unless the signed-in user may do this at its site."""
    case = services.cases.get(CommentId(comment_id))
    require(permission, case.comment.site_id)
    return case


def go_to(endpoint: str, told: str = "", **values: Any) -> ResponseReturnValue:
    """Lead from a form to a page, which tells once what was done."""
    if told:
        flash(told)
    return redirect(url_for(endpoint, **values), HTTPStatus.SEE_OTHER)


def go_back() -> ResponseReturnValue:
    """Lead from a form to the page that it names."""
    return redirect(safe_next(request.form.get("next")), HTTPStatus.SEE_OTHER)


def safe_next(target: str | None) -> str:
    """Return where to go after signing in: a page for moderators, whatever was asked for."""
    home = url_for("pages.queue")
    if not target or not target.isprintable() or "\\" in target:
        return home
    if not target.startswith("/") or target.startswith("//"):
        return home
    path = target.partition("?")[0]
    try:
        endpoint, _ = current_app.create_url_adapter(request).match(path, method="GET")  # type: ignore[union-attr]  # there is one within a request
    except (HTTPException, RequestRedirect):
        return home
    is_page = endpoint.startswith("pages.") and not is_open(current_app.view_functions[endpoint])
    return target if is_page else home


@_logins.user_loader  # type: ignore[untyped-decorator]  # the library ships no types
def _load_session(session_id: str) -> SignedIn | None:
    found = find_session(session_id, services) if is_id(session_id) else None
    return SignedIn(found[1], session_id) if found else None


@pages.before_request
def _begin_moment() -> None:
    """Let a page that only shows something read all of it in one transaction."""
    if request.method in {"GET", "HEAD"}:
        g.moment = services.one_moment()
        g.moment.__enter__()


@pages.teardown_request
def _end_moment(_error: BaseException | None) -> None:
    # Before the answer is sent, so that a long one holds nothing.
    if moment := g.pop("moment", None):
        moment.__exit__(None, None, None)


pages.before_request(_csrf.protect)


@pages.before_request
def _check_access() -> ResponseReturnValue | None:
    view = current_app.view_functions[request.endpoint or ""]
    if is_open(view):
        return None
    if not current_user.is_authenticated:
        asked = request.full_path.rstrip("?") if request.method == "GET" else None
        return redirect(url_for("pages.sign_in", next=asked), HTTPStatus.SEE_OTHER)
    if moderator().must_change_password and request.endpoint not in _WITH_ONE_TIME_PASSWORD:
        return redirect(url_for("pages.password"), HTTPStatus.SEE_OTHER)
    if not moderator().may(needed(view) or Permission.LOOK):
        abort(HTTPStatus.FORBIDDEN)
    session.modified = True
    asks_factor = current_app.config["REQUIRE_SECOND_FACTOR"]
    if not asks_factor or request.endpoint in _WITHOUT_SECOND_FACTOR:
        return None
    if services.second_factors.get(moderator().id) is not None:
        return None
    return redirect(url_for("pages.second_factor"), HTTPStatus.SEE_OTHER)


@pages.after_request
def _harden(response: Response) -> Response:
    response.headers["Content-Security-Policy"] = _POLICY
    return response


@pages.errorhandler(CSRFError)
def _on_stale_form(_error: CSRFError) -> ResponseReturnValue:
    title = gettext("This form has expired")
    advice = gettext("Nothing was changed. Reload the page and try again.")
    return error_page(HTTPStatus.FORBIDDEN, title, advice)


@pages.context_processor
def shell_of() -> dict[str, Any]:
    """Return what the bar and many pages show to the signed-in user; nothing to strangers."""
    if not current_user.is_authenticated:
        return {}
    user: User = current_user.user
    troubles = services.deliveries.troubles(site_ids=user.site_ids, at_most=100)
    return {
        "permissions": Permission,
        "dead": _number(troubles.given_up),
        "callbacks_count": _number(troubles.given_up + troubles.refused),
        "user": user,
        "may_select": user.may(Permission.DECIDE),
        "max_note_chars": MAX_NOTE_CHARS,
        "most_counted": MAX_COUNTED,
    }


def _number(count: int) -> str:
    return "99+" if count > 99 else str(count or "")
