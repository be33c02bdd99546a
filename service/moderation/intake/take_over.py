"""Takes over what was decided of comments elsewhere, before they came here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decided_comment import DecidedComment
from service.domain.decision import Decision, Ruling
from service.moderation.admin.acts import acts_on_comments
from service.moderation.learning.remember import remember
from service.moderation.telling.announce import tell_of_decisions, write_ruling_messages
from service.ports.services import Services


def take_over_rulings(
    rulings: Mapping[CommentId, Ruling], services: Services, *, site_id: SiteId, decided_by: str
) -> int:
    """Record rulings on at most 500 comments of a site; return how many were recorded.

    Left out are comments that anybody has ruled on here, withdrawn ones, and those that are not
    kept or belong to another site. Each is logged, told and learnt as by `decide_comment`, one
    transaction for each of the two rulings. Safe to do again. Raises `StoreUnavailableError`.
    """
    open_ones = [
        case
        for case in services.cases.find(list(rulings))
        if case.decision is None and case.withdrawn_at is None and case.comment.site_id == site_id
    ]
    recorded = 0
    for ruling in Ruling:
        alike = [case for case in open_ones if rulings[case.comment.id] is ruling]
        if alike:
            recorded += _record(alike, ruling, services, decided_by=decided_by)
    return recorded


def _record(
    open_ones: Sequence[Case], ruling: Ruling, services: Services, *, decided_by: str
) -> int:
    now = services.clock()
    cases = {case.comment.id: case for case in open_ones}
    decisions = [
        Decision(
            id=services.new_id("dec"),
            comment_id=comment_id,
            ruling=ruling,
            decided_by=decided_by,
            decided_at=now,
        )
        for comment_id in cases
    ]
    ruled = [replace(cases[one.comment_id], decisions=(one,)) for one in decisions]
    # Of the site itself, whose undo time nobody waits for.
    messages = write_ruling_messages(ruled, services, before=open_ones, at_once=True)
    # Who decides one meanwhile is not overruled.
    made = services.decisions.add_many(
        decisions, deliveries=messages, acts=acts_on_comments, open_only=True
    )
    remember(
        [DecidedComment(decision=one, comment=cases[one.comment_id].comment) for one in made],
        services,
    )
    if messages:
        seen = {one.comment_id: cases[one.comment_id] for one in made}
        tell_of_decisions(seen, services, at_once=True)
    return len(made)
