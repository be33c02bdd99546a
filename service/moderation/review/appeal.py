"""Lets an author appeal once against a comment's being held or rejected."""

from __future__ import annotations

import unicodedata

from service.domain.case import Case
from service.moderation.admin.acts import make_act
from service.ports.services import Services

MAX_APPEAL_CHARS = 500


def appeal(case: Case, text: str, services: Services) -> bool:
    """Keep the author's appeal and put the comment before all others in the review queue.

    Return False for one that says nothing, has over 500 characters or is not the first, and where
    there is nothing to appeal against. Raises `NotFoundError` if the comment has gone.
    """
    words = text.replace("\r\n", "\n").strip()
    is_blank = not any(unicodedata.category(one)[0] in "LNPS" for one in words)
    if is_blank or len(words) > MAX_APPEAL_CHARS or not case.may_be_appealed:
        return False
    act = make_act(services, actor="author", act="appeal", subject=case.comment.id)
    return services.reports.appeal(case.comment.id, words, act=act)
