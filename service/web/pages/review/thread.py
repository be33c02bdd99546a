"""Shows above an opened comment what it answers, as far as that is kept here."""

from __future__ import annotations

from dataclasses import dataclass

from flask import url_for

from service.domain.case import Case
from service.domain.decision import Ruling
from service.web.pages.common.marking import Piece, part_text
from service.web.pages.common.pages import moderator, services
from service.web.pages.common.presenting import Moment, beginning, tell_time

# What stands above is read for its sense; the rest is one click away.
_WORDS_SHOWN = 300
_NAME_CHARS = 60
# Threads may be endless, or loop.
_MOST_ABOVE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredView:
    """One comment of the thread: whose, its beginning, and how it was ruled."""

    url: str
    author: tuple[Piece, ...]
    words: tuple[Piece, ...]
    received: Moment
    ruling: Ruling | None


def thread_view(case: Case) -> tuple[AnsweredView, ...]:
    """Return the comments above this one, the first of the thread first, itself left out."""
    above: list[Case] = []
    seen = {case.comment.id}
    current = case
    while current.comment.reply_to and len(above) < _MOST_ABOVE:
        site_id, named = current.comment.site_id, current.comment.reply_to
        found = services.intake.comments.find_by_site_ids(site_id, [named]).get(named)
        if found is None or found in seen or not moderator().sees(site_id):
            break
        seen.add(found)
        current = services.review.cases.get(found)
        above.append(current)
    now = services.common.clock()
    return tuple(
        AnsweredView(
            url=url_for("pages.comment", comment_id=one.comment.id, show="all"),
            author=part_text(beginning(one.comment.author.name or "", _NAME_CHARS)),
            words=part_text(beginning(one.comment.text, _WORDS_SHOWN)),
            received=tell_time(one.comment.received_at, now),
            ruling=one.decision.ruling if one.decision else None,
        )
        for one in reversed(above)
    )
