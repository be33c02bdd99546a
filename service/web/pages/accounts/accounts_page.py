"""The pages where an owner says who may do what, and lets people in and out.

A one-time password is shown in the answer to the form itself: to show it after a redirect it would
have to lie in the cookie meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus

from flask import abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from service.domain.comment import SiteId
from service.domain.errors import ConflictError, InvalidInputError
from service.domain.user import Permission, Role, User, is_above
from service.moderation.admin.accounts import (
    AboveOwnRoleError,
    LastOwnerError,
    end_user,
    restore_user,
    set_access,
)
from service.moderation.admin.second_factor import turn_off_second_factor
from service.moderation.admin.users import MAX_NAME_CHARS, add_user, reset_password
from service.web.edge.ids import is_id
from service.web.edge.language import gettext, noted
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, needs, pages, services
from service.web.pages.common.presenting import Moment, tell_time

_TOLD = "told_accounts"
ROLE_NAMES = {
    Role.OWNER: noted("Owner"),
    Role.ADMIN: noted("Admin"),
    Role.MODERATOR: noted("Moderator"),
    Role.READER: noted("Reader"),
}
_ROLE_MEANS = {
    Role.OWNER: noted("Everything, on all sites: accounts and personal data too."),
    Role.ADMIN: noted("Decides, keeps lists, sets up sites and sees the log."),
    Role.MODERATOR: noted("Decides comments and keeps lists."),
    Role.READER: noted("Can read, but change nothing."),
}
_PROBLEMS = {
    "name": noted("A name has 1 to 60 printable characters."),
    "site_ids": noted("Choose one or more sites, or all of them. An owner always sees all sites."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountView:
    """One account: what it may do where, and when it was last seen."""

    id: str
    name: tuple[Piece, ...]
    role: Role
    role_name: str
    sites: tuple[tuple[Piece, ...], ...] | None
    second_factor: bool
    last_seen: Moment | None
    ended: Moment | None
    one_time_password: bool
    is_me: bool


@pages.get("/accounts", endpoint="accounts")
@needs(Permission.MANAGE_ACCOUNTS)
def show() -> ResponseReturnValue:
    return _list_page(told=session.pop(_TOLD, ""))


@pages.post("/accounts")
@needs(Permission.MANAGE_ACCOUNTS)
def add_account() -> ResponseReturnValue:
    me = moderator()
    try:
        added, password = add_user(
            request.form.get("name", ""),
            services.accounts,
            services.common,
            actor=me.name,
            role=_role(),
            site_ids=_chosen_sites(),
            actor_role=me.role,
        )
    except (InvalidInputError, ConflictError) as error:
        return _list_page(refusal=_said(error)), HTTPStatus.UNPROCESSABLE_ENTITY
    return _account_page(added, password=password), HTTPStatus.CREATED


@pages.get("/accounts/<user_id>")
@needs(Permission.MANAGE_ACCOUNTS)
def account(user_id: str) -> ResponseReturnValue:
    return _account_page(
        _find(user_id),
        told=session.pop(_TOLD, ""),
    )


@pages.post("/accounts/<user_id>")
@needs(Permission.MANAGE_ACCOUNTS)
def change_account(user_id: str) -> ResponseReturnValue:
    user, me = _find(user_id), moderator()
    try:
        set_access(
            user.id,
            services.accounts,
            services.common,
            role=_role(),
            site_ids=_chosen_sites(),
            actor=me.name,
            actor_role=me.role,
        )
    except (InvalidInputError, ConflictError) as error:
        return _refused(
            user,
            error,
        )
    return _back(user, gettext("What this account may do has changed."))


@pages.post("/accounts/<user_id>/reset")
@needs(Permission.MANAGE_ACCOUNTS)
def reset_account(user_id: str) -> ResponseReturnValue:
    user, me = _find(user_id), moderator()
    try:
        password = reset_password(
            user.name, services.accounts, services.common, actor=me.name, actor_role=me.role
        )
    except ConflictError as error:
        return _refused(
            user,
            error,
        )
    return _account_page(_find(user_id), password=password)


@pages.post("/accounts/<user_id>/second-factor")
@needs(Permission.MANAGE_ACCOUNTS)
def turn_off_account_factor(user_id: str) -> ResponseReturnValue:
    user, me = _find(user_id), moderator()
    try:
        turn_off_second_factor(
            user, services.accounts, services.common, actor=me.name, actor_role=me.role
        )
    except ConflictError as error:
        return _refused(
            user,
            error,
        )
    return _back(user, gettext("The second factor is off; the password alone signs them in."))


@pages.post("/accounts/<user_id>/end")
@needs(Permission.MANAGE_ACCOUNTS)
def end_account(user_id: str) -> ResponseReturnValue:
    user, me = _find(user_id), moderator()
    try:
        end_user(user.id, services.accounts, services.common, actor=me.name, actor_role=me.role)
    except ConflictError as error:
        return _refused(
            user,
            error,
        )
    return _back(user, gettext("This account has ended, and so have its sessions."))


@pages.post("/accounts/<user_id>/restore")
@needs(Permission.MANAGE_ACCOUNTS)
def restore_account(user_id: str) -> ResponseReturnValue:
    user, me = _find(user_id), moderator()
    try:
        restored, password = restore_user(
            user.id, services.accounts, services.common, actor=me.name, actor_role=me.role
        )
    except ConflictError as error:
        return _refused(
            user,
            error,
        )
    return _account_page(restored, password=password)


def _find(user_id: str) -> User:
    user = services.accounts.users.get(user_id) if is_id(user_id) else None
    return user or abort(HTTPStatus.NOT_FOUND)


def _role() -> Role:
    roles = {role.value: role for role in Role}
    return roles.get(request.form.get("role", "")) or abort(HTTPStatus.BAD_REQUEST)


def _chosen_sites() -> tuple[SiteId, ...] | None:
    if request.form.get("sees") == "all":
        return None
    return tuple(SiteId(chosen) for chosen in request.form.getlist("site"))


def _said(error: InvalidInputError | ConflictError) -> str:
    """Return what was refused and what to do about it, in the reader's language."""
    if isinstance(error, InvalidInputError):
        fields = dict.fromkeys(problem.field for problem in error.problems)
        return " ".join(gettext(_PROBLEMS[field]) for field in fields)
    if isinstance(error, LastOwnerError):
        return gettext("This is the last owner. Make somebody else an owner first.")
    if isinstance(error, AboveOwnRoleError):
        return gettext("You cannot assign or change a role above your own.")
    return gettext("There is an account of that name already, or it has changed meanwhile.")


def _refused(
    user: User,
    error: InvalidInputError | ConflictError,
) -> ResponseReturnValue:
    status = HTTPStatus.CONFLICT
    if isinstance(error, InvalidInputError):
        status = HTTPStatus.UNPROCESSABLE_ENTITY
    return _account_page(user, refusal=_said(error)), status


def _back(user: User, told: str) -> ResponseReturnValue:
    if user.id == moderator().id and request.endpoint == "pages.end_account":
        return redirect(url_for("pages.sign_in"), HTTPStatus.SEE_OTHER)
    session[_TOLD] = told
    return redirect(url_for("pages.account", user_id=user.id), HTTPStatus.SEE_OTHER)


def _list_page(*, refusal: str = "", told: str = "") -> str:
    seen, factors = (
        services.accounts.sessions.last_seen(),
        services.accounts.second_factors.user_ids(),
    )
    now = services.common.clock()
    views = [
        _view(user, seen=seen.get(user.id), factor=user.id in factors, now=now)
        for user in services.accounts.users.all()
    ]
    return render_template(
        "accounts.html",
        accounts=[view for view in views if view.ended is None],
        ended=[view for view in views if view.ended is not None],
        refusal=refusal,
        told=told,
        typed_name=request.form.get("name", "")[:MAX_NAME_CHARS],
        max_name_chars=MAX_NAME_CHARS,
        **_choices(role=Role.MODERATOR, site_ids=None),
    )


def _account_page(
    user: User,
    *,
    password: str = "",
    refusal: str = "",
    told: str = "",
) -> str:
    view = _view(
        user,
        seen=services.accounts.sessions.last_seen().get(user.id),
        factor=services.accounts.second_factors.get(user.id) is not None,
        now=services.common.clock(),
    )
    return render_template(
        "account.html",
        account=view,
        password=password,
        refusal=refusal,
        told=told,
        **_choices(role=user.role, site_ids=user.site_ids),
    )


def _choices(*, role: Role, site_ids: tuple[SiteId, ...] | None) -> dict[str, object]:
    """Return what a form lets one choose: roles up to one's own, and sites."""
    mine = moderator().role
    return {
        "roles": [
            (one, gettext(ROLE_NAMES[one]), gettext(_ROLE_MEANS[one]))
            for one in Role
            if not is_above(one, mine)
        ],
        "chosen_role": role,
        "sites": [(site.id, part_text(site.name)) for site in services.common.sites.all()],
        "chosen_sites": site_ids,
    }


def _view(user: User, *, seen: datetime | None, factor: bool, now: datetime) -> AccountView:
    names = {site.id: site.name for site in services.common.sites.all()}
    sites = None
    if user.site_ids is not None:
        sites = tuple(part_text(names.get(site_id, site_id)) for site_id in user.site_ids)
    return AccountView(
        id=user.id,
        name=part_text(user.name),
        role=user.role,
        role_name=gettext(ROLE_NAMES[user.role]),
        sites=sites,
        second_factor=factor,
        last_seen=tell_time(seen, now) if seen else None,
        ended=tell_time(user.ended_at, now) if user.ended_at else None,
        one_time_password=user.must_change_password,
        is_me=user.id == moderator().id,
    )
