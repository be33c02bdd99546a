"""The pages where an owner manages accounts.

A one-time password is shown in the response to the form. A redirect would have to store it in the
session cookie.
"""

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from flask import abort, render_template, request
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.errors import ConflictError, InvalidInputError
from service.domain.user import SESSIONS_KEPT, Permission, Role, User
from service.moderation.accounts import (
    MAX_NAME_CHARS,
    LastOwnerError,
    add_user,
    end_user,
    reset_password,
    restore_user,
    set_access,
)
from service.moderation.signing_in import turn_off_second_factor
from service.web.edge.current import services
from service.web.edge.errors import problem_of
from service.web.edge.language import N_, gettext
from service.web.pages.blueprint import go_to, moderator, pages
from service.web.pages.template_filters import all_sites

_PROBLEMS = {
    "name": N_("A name has 1 to 60 printable characters."),
    "site_ids": N_("Choose one or more sites, or all of them. An owner always sees all sites."),
}


@pages.get("/accounts", needs=Permission.MANAGE_ACCOUNTS)
def accounts() -> ResponseReturnValue:
    return _list_page()


@pages.post("/accounts", needs=Permission.MANAGE_ACCOUNTS)
def add_account() -> ResponseReturnValue:
    try:
        added, password = add_user(request.form.get("name", ""), services, **_read_access())
    except (InvalidInputError, ConflictError) as error:
        return _list_page(refusal=_said(error)), HTTPStatus.UNPROCESSABLE_ENTITY
    return _account_page(added, password=password), HTTPStatus.CREATED


@pages.get("/accounts/<id:user_id>", needs=Permission.MANAGE_ACCOUNTS)
def account(user_id: str) -> ResponseReturnValue:
    return _account_page(_find(user_id))


def _acts_on(act: Callable[[User, User], ResponseReturnValue]) -> Callable[..., Any]:
    """Pass the account and the signed-in owner to a view, and show its errors on the page."""

    @wraps(act)
    def view(user_id: str) -> ResponseReturnValue:
        user = _find(user_id)
        try:
            return act(user, moderator())
        except (InvalidInputError, ConflictError) as error:
            return _account_page(user, refusal=_said(error)), problem_of(error).status

    return view


@pages.post("/accounts/<id:user_id>", needs=Permission.MANAGE_ACCOUNTS)
@_acts_on
def change_account(user: User, _me: User) -> ResponseReturnValue:
    set_access(user.id, services, **_read_access())
    return go_to("pages.account", gettext("What this account may do has changed."), user_id=user.id)


@pages.post("/accounts/<id:user_id>/reset", needs=Permission.MANAGE_ACCOUNTS)
@_acts_on
def reset_account(user: User, me: User) -> ResponseReturnValue:
    password = reset_password(user.name, services, actor=me.name)
    return _account_page(_find(user.id), password=password)


@pages.post("/accounts/<id:user_id>/second-factor", needs=Permission.MANAGE_ACCOUNTS)
@_acts_on
def turn_off_account_factor(user: User, me: User) -> ResponseReturnValue:
    turn_off_second_factor(user, services, actor=me.name)
    told = gettext("The second factor is off; the password alone signs them in.")
    return go_to("pages.account", told, user_id=user.id)


@pages.post("/accounts/<id:user_id>/end", needs=Permission.MANAGE_ACCOUNTS)
@_acts_on
def end_account(user: User, me: User) -> ResponseReturnValue:
    end_user(user.id, services, actor=me.name)
    if user.id == me.id:
        return go_to("pages.sign_in")
    told = gettext("This account has ended, and so have its sessions.")
    return go_to("pages.account", told, user_id=user.id)


@pages.post("/accounts/<id:user_id>/restore", needs=Permission.MANAGE_ACCOUNTS)
@_acts_on
def restore_account(user: User, me: User) -> ResponseReturnValue:
    restored, password = restore_user(user.id, services, actor=me.name)
    return _account_page(restored, password=password)


def _find(user_id: str) -> User:
    return services.users.get(user_id) or abort(HTTPStatus.NOT_FOUND)


def _read_access() -> dict[str, Any]:
    sites = tuple(SiteId(chosen) for chosen in request.form.getlist("site"))
    return {
        "role": request.values.get("role", type=Role) or abort(HTTPStatus.BAD_REQUEST),
        "site_ids": None if request.form.get("sees") == "all" else sites,
        "actor": moderator().name,
    }


def _said(error: InvalidInputError | ConflictError) -> str:
    if isinstance(error, InvalidInputError):
        fields = dict.fromkeys(problem.field for problem in error.problems)
        return " ".join(gettext(_PROBLEMS[field]) for field in fields)
    if isinstance(error, LastOwnerError):
        return gettext("This is the last owner. Make somebody else an owner first.")
    return gettext("There is an account of that name already, or it has changed meanwhile.")


def _list_page(*, refusal: str = "") -> str:
    users = services.users.all()
    return render_template(
        "accounts.html",
        accounts=[user for user in users if user.ended_at is None],
        ended=[user for user in users if user.ended_at is not None],
        typed_name=request.form.get("name", "")[:MAX_NAME_CHARS],
        max_name_chars=MAX_NAME_CHARS,
        **_values(refusal, role=Role.MODERATOR, site_ids=None),
    )


def _account_page(user: User, *, password: str = "", refusal: str = "") -> str:
    values = _values(refusal, role=user.role, site_ids=user.site_ids)
    return render_template("account.html", account=user, password=password, **values)


def _values(refusal: str, *, role: Role, site_ids: tuple[SiteId, ...] | None) -> dict[str, Any]:
    return {
        "refusal": refusal,
        "last_seen": services.sessions.last_seen(),
        "sessions_since": services.clock() - SESSIONS_KEPT,
        "sessions_days": SESSIONS_KEPT.days,
        "factors": services.second_factors.user_ids(),
        "roles": list(Role),
        "chosen_role": role,
        "sites": all_sites().values(),
        "chosen_sites": site_ids,
    }
