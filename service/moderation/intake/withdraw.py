"""Honours the deletion of a comment at its site."""

from __future__ import annotations

import logging

from service.domain.comment import CommentId, SiteId
from service.moderation.telling.announce import wake_deliverers, write_withdrawn_messages
from service.ports.audit import AuditEntry
from service.ports.services import Services

log = logging.getLogger(__name__)


def withdraw_comment(
    comment_id: CommentId, services: Services, *, by: str, site_id: SiteId | None = None
) -> bool:
    """Forget a comment's words and who sent it; return whether that was still to be done.

    Its verdict, its decisions and the log stay, so that figures stay true. Raises `NotFoundError`
    for a comment that is not kept or belongs to another site.
    """
    case = services.cases.get(comment_id, site_id=site_id)
    if case.withdrawn_at is not None:
        return False
    now = services.clock()
    act = AuditEntry(at=now, actor=by, act="withdraw", subject=comment_id)
    messages = write_withdrawn_messages([case], services)
    services.personal_data.withdraw(
        [comment_id], at=now, act=lambda new: act if new else None, deliveries=messages
    )
    if messages:
        wake_deliverers(services)
    log.info("comment withdrawn", extra={"comment_id": comment_id})
    return True
