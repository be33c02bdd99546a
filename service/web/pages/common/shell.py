"""What all pages for moderators have in common around them: the bar with its ways."""

from __future__ import annotations

from typing import Any

from flask_login import current_user

from service.domain.sender_record import MAX_COUNTED
from service.domain.user import Permission, User
from service.moderation.review.decide import MAX_NOTE_CHARS
from service.web.edge.current import services
from service.web.pages.common.pages import pages

_COUNTED = 99


@pages.context_processor
def shell_of() -> dict[str, Any]:
    """Return what the bar and many pages show to the signed-in user; nothing to strangers."""
    if not current_user.is_authenticated:
        return {}
    user: User = current_user.user
    troubles = services.deliveries.troubles(site_ids=user.site_ids, at_most=_COUNTED + 1)
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
    """Return a count as the bar says it; nothing for none."""
    if count > _COUNTED:
        return f"{_COUNTED}+"
    return str(count) if count else ""
