"""What all pages for moderators have in common around them: the bar with its ways."""

from __future__ import annotations

from typing import Any

from flask_login import current_user

from service.domain.sender_record import MAX_COUNTED
from service.domain.user import Permission, User
from service.moderation.review.decide import MAX_NOTE_CHARS
from service.web.edge.current import services
from service.web.edge.language import noted
from service.web.pages.common.pages import pages

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
_COUNTED = 99


@pages.context_processor
def shell_of() -> dict[str, Any]:
    """Return what the bar and many pages show to the signed-in user; nothing to strangers."""
    if not current_user.is_authenticated:
        return {}
    user: User = current_user.user
    troubles = services.deliveries.troubles(site_ids=user.site_ids, at_most=_COUNTED + 1)
    return {
        "daily_ways": [way for way in _DAILY if user.may(way[2])],
        "seldom_ways": [way for way in _SELDOM if user.may(way[2])],
        "dead": _number(troubles.given_up),
        "callbacks_count": _number(troubles.given_up + troubles.refused),
        "user": user,
        "may_select": user.may(Permission.DECIDE),
        "max_note_chars": MAX_NOTE_CHARS,
        "most_counted": MAX_COUNTED,
    }


def _number(count: int) -> str:
    """Return a count as the bar says it; nothing for none."""
    if count > _COUNTED:
        return f"{_COUNTED}+"
    return str(count) if count else ""
