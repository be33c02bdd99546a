"""The blueprint of the pages for moderators: access, sessions, headers, forms, error pages."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

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
from service.web.edge.current import services
from service.web.edge.fields import is_id
from service.web.edge.language import gettext


class _Pages(Blueprint):
    """Takes the option `needs` for a route: the permission that its view needs.

    Every route that changes data has it. Use `require` for a permission at one site.
    """

    def add_url_rule(
        self,
        rule: str,
        endpoint: str | None = None,
        view_func: Any = None,
        *args: Any,
        needs: Permission | None = None,
        **options: Any,
    ) -> None:
        if needs is not None:
            view_func.needs_permission = needs
        super().add_url_rule(rule, endpoint, view_func, *args, **options)


pages = _Pages(PAGES, __name__)
"""The pages for moderators. Each needs a session and checks CSRF tokens."""

_WITH_ONE_TIME_PASSWORD = frozenset({"pages.password", "pages.sign_out"})
# The pages without a second factor if everybody must have one.
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
# A session stays valid when the client's address changes, as on a phone.
_logins.session_protection = None


class SignedIn(UserMixin):  # type: ignore[misc]  # the library ships no types
    """A signed-in moderator. `id` is the session's id, which the cookie has."""

    def __init__(self, user: User, session_id: str) -> None:
        self.user = user
        self.id = session_id


def moderator() -> User:
    """Return the signed-in user; only for pages that are not open."""
    user: User = current_user.user
    return user


def current_session_id() -> str:
    """Return the id of the user's session; only for pages that are not open."""
    session_id: str = current_user.id
    return session_id


def needed(view: Callable[..., Any]) -> Permission | None:
    return getattr(view, "needs_permission", None)


def require(permission: Permission, site_id: SiteId) -> None:
    """Abort unless the signed-in user may do this at this site; 404 if they don't see it."""
    user = moderator()
    if not user.sees(site_id):
        abort(HTTPStatus.NOT_FOUND)
    if not user.may(permission, site_id):
        abort(HTTPStatus.FORBIDDEN)


def register_blueprint(app: Flask) -> None:
    """Configure sessions and CSRF protection, and register the blueprint."""
    is_https_only = app.config["SESSION_COOKIE_SECURE"]
    app.config.from_mapping(
        # With the prefix, browsers accept the cookie only from this host, over HTTPS.
        SESSION_COOKIE_NAME="__Host-slopsieve" if is_https_only else "slopsieve",
        PERMANENT_SESSION_LIFETIME=IDLE_LIFETIME,
        # Views renew the session. A late response of a style sheet must not restore an old cookie,
        # such as one from before signing out.
        SESSION_REFRESH_EACH_REQUEST=False,
        # Only the pages' blueprint checks tokens; programs send no cookies.
        WTF_CSRF_CHECK_DEFAULT=False,
        # A token is valid as long as its session.
        WTF_CSRF_TIME_LIMIT=None,
        # Pages send no referrer; the token and SameSite are the protection.
        WTF_CSRF_SSL_STRICT=False,
    )
    _csrf.init_app(app)
    _logins.init_app(app)
    app.register_blueprint(pages)


def error_page(status: int, title: str = "", advice: str = "") -> Response:
    """Return an error page in the reader's language."""
    html = render_template("error.html", status=status, title=title, advice=advice)
    return _harden(make_response(html, status))


def seen_case(comment_id: str, permission: Permission = Permission.LOOK) -> Case:
    """Return a comment; abort unless the signed-in user has this permission at its site."""
    case = services.cases.get(CommentId(comment_id))
    require(permission, case.comment.site_id)
    return case


def go_to(endpoint: str, told: str = "", **values: Any) -> ResponseReturnValue:
    """Redirect to a page, which flashes `told`."""
    if told:
        flash(told)
    return redirect(url_for(endpoint, **values), HTTPStatus.SEE_OTHER)


def go_back() -> ResponseReturnValue:
    return redirect(safe_next(request.form.get("next")), HTTPStatus.SEE_OTHER)


def safe_next(target: str | None) -> str:
    """Return `target` if it is the path of a page for moderators, else the queue."""
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
    """Read all data of a GET request in one transaction."""
    if request.method in {"GET", "HEAD"}:
        g.moment = services.read_snapshot()
        g.moment.__enter__()


@pages.teardown_request
def _end_moment(_error: BaseException | None) -> None:
    # Before the response is sent, so that a long one keeps no transaction open.
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
    advice = gettext("Nothing was changed. Reload the page and try again.")
    return error_page(HTTPStatus.FORBIDDEN, gettext("This form has expired"), advice)


@pages.context_processor
def shell_of() -> dict[str, Any]:
    """Return the values of the navigation bar; none without a signed-in user."""
    if not current_user.is_authenticated:
        return {}
    user = moderator()
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
