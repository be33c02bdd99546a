"""Lets an author read why a comment was held or rejected, and appeal once."""

from __future__ import annotations

import logging
import unicodedata

from service.domain.case import Appeal, Case
from service.domain.comment import CommentId
from service.domain.errors import InvalidInputError, NotFoundError, Problem
from service.domain.statement import MAX_APPEAL_CHARS, may_appeal
from service.moderation.admin.acts import make_act
from service.ports.services import Services

log = logging.getLogger(__name__)

AUTHOR = "author"
"""Who appeals, in the log."""


def find_case(comment_id: CommentId, mac: str, services: Services) -> Case:
    """Return the case that a link leads to.

    Raises `NotFoundError` for a link that was not made here, and once the comment was withdrawn,
    erased or kept for long enough.
    """
    case = services.review.cases.get(comment_id)
    is_signed = services.telling.statements.is_signed(case.comment, mac)
    if not is_signed or case.withdrawn_at is not None:
        raise NotFoundError("There is no such statement.")
    return case


def appeal(case: Case, text: str, services: Services) -> bool:
    """Keep the author's appeal and put the comment before all others in the review queue.

    Return False if it cannot be appealed against, or was before. Raises `InvalidInputError` for an
    appeal that says nothing or has over 500 characters, `NotFoundError` if the comment has gone.
    """
    words = text.replace("\r\n", "\n").strip()
    is_blank = not any(unicodedata.category(one)[0] in "LNPS" for one in words)
    if is_blank or len(words) > MAX_APPEAL_CHARS:
        remedy = f"give 1 to {MAX_APPEAL_CHARS} characters"
        raise InvalidInputError([Problem("appeal", "says nothing or too much", remedy)])
    if not may_appeal(case):
        return False
    act = make_act(services.common, actor=AUTHOR, act="appeal", subject=case.comment.id)
    kept = services.intake.reports.appeal(
        case.comment.id, Appeal(text=words, at=act.at, is_open=True), act=act
    )
    if kept:
        log.info("author appealed", extra={"comment_id": case.comment.id})
    return kept
