"""What all pages for moderators have in common around them: the bar with its ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask import current_app, request, url_for
from flask_login import current_user

from service.domain.user import Permission, User
from service.web.edge.language import gettext, noted
from service.web.pages.common.pages import services


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One entry of the bar; `count` is a number that asks for attention, empty for none."""

    name: str
    url: str
    current: bool
    count: str = ""


# Endpoint, name, and what an account must be allowed to find the way useful.
_DAILY = (
    ("pages.queue", noted("Comments"), Permission.LOOK),
    ("pages.campaigns", noted("Campaigns"), Permission.LOOK),
    ("pages.search", noted("Search"), Permission.LOOK),
    ("pages.stats", noted("Figures"), Permission.LOOK),
)
_SELDOM = (
    ("pages.site_lists", noted("Lists"), Permission.LIST_SENDERS),
    ("pages.sites", noted("Sites"), Permission.MANAGE_SITES),
    ("pages.accounts", noted("Accounts"), Permission.MANAGE_ACCOUNTS),
    ("pages.models", noted("Models"), Permission.MANAGE_MODELS),
    ("pages.log", noted("Log"), Permission.SEE_LOG),
    ("pages.personal_data", noted("Personal data"), Permission.ERASE_PEOPLE),
    ("pages.callbacks", noted("Callbacks"), Permission.LOOK),
)
_CALLBACKS = "pages.callbacks"
_COUNTED = 99


def shell_of() -> dict[str, Any]:
    """Return what the bar shows to whoever is signed in; nothing to strangers."""
    if not current_user.is_authenticated:
        return {}
    user: User = current_user.user
    troubles = services.telling.deliveries.troubles(site_ids=user.site_ids, at_most=_COUNTED + 1)
    callbacks = _number(troubles.given_up + troubles.refused)
    return {
        "daily_ways": [_way(*way) for way in _DAILY if _is_open(user, *way)],
        "seldom_ways": [
            _way(*way, count=callbacks if way[0] == _CALLBACKS else "")
            for way in _SELDOM
            if _is_open(user, *way)
        ],
        "dead": _number(troubles.given_up),
        "callbacks_count": callbacks,
        "user": user,
    }


def _number(count: int) -> str:
    """Return a count as the bar says it; nothing for none."""
    if count > _COUNTED:
        return f"{_COUNTED}+"
    return str(count) if count else ""


def _is_open(user: User, endpoint: str, _name: str, permission: Permission) -> bool:
    return endpoint in current_app.view_functions and user.may(permission)


def _way(endpoint: str, name: str, _permission: Permission, *, count: str = "") -> Way:
    return Way(
        name=gettext(name),
        url=url_for(endpoint),
        current=(request.endpoint or "").startswith(endpoint),
        count=count,
    )
