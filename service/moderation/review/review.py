"""Lists comments for moderators, whose rulings count for the case as they saw it."""

from __future__ import annotations

from enum import StrEnum

from service.domain.case import Case, CaseFilter, CasePage, Order, State
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.errors import ConflictError
from service.domain.verdict import Outcome
from service.moderation.review.decide import decide_comment, refuse_note, undo_decision
from service.ports.services import Services


class Tab(StrEnum):
    """The lists that a moderator can look at."""

    NEEDS_REVIEW = "needs-review"
    HELD_AS_SPAM = "held-as-spam"
    SPAM = "spam"
    HAM = "ham"
    DECIDED = "decided"
    ALL = "all"


_ORDERS = {Tab.NEEDS_REVIEW: Order.REVIEW, Tab.HELD_AS_SPAM: Order.DOUBT}


def list_for_review(
    tab: Tab,
    services: Services,
    *,
    site_ids: tuple[SiteId, ...] | None,
    cursor: str | None,
    limit: int,
    order: Order | None = None,
) -> CasePage:
    """Return one page: what needs review in the order it should be done, others newest first.

    Of what is held as spam the most doubtful comes first. An `order` that is given comes instead.
    `site_ids` None means all sites. Raises `InvalidInputError` for a cursor that no page gave out.
    """
    order = order or _ORDERS.get(tab, Order.NEWEST)
    criteria = _criteria(tab, site_ids)
    return services.cases.page(criteria, order=order, cursor=cursor, limit=limit)


def count_tab(tab: Tab, services: Services, *, site_ids: tuple[SiteId, ...] | None) -> int:
    """Return how many comments a list holds."""
    return services.cases.count(_criteria(tab, site_ids))


def decide_as_seen(
    comment_id: CommentId,
    ruling: Ruling,
    services: Services,
    *,
    decided_by: str,
    seen_decision_id: str | None,
    note: str | None = None,
    decision_id: str | None = None,
) -> Case:
    """Record a ruling made in view of `seen_decision_id`, and return the case as it stands then.

    With `decision_id` the decision gets that id, and the same call again changes nothing, whatever
    happened to the decision since. Raises `ConflictError` if somebody ruled the other way in the
    meantime: two moderators on one comment must not overrule each other unknowingly;
    `InvalidInputError` for a note of more than 500 characters. Raises what `decide_comment` raises,
    too.
    """
    refuse_note(note)
    case = services.cases.get(comment_id)
    if _was_made(case, decision_id):
        return case
    _refuse_stale(case, seen_decision_id, ruling=ruling)
    try:
        return decide_comment(
            comment_id,
            ruling,
            services,
            decided_by=decided_by,
            note=note,
            instead_of=() if seen_decision_id is None else (seen_decision_id,),
            decision_id=decision_id,
        )
    except ConflictError:
        case = services.cases.get(comment_id)
        if _was_made(case, decision_id):
            # The same call came twice at once.
            return case
        if case.withdrawn_at is None and case.decision and case.decision.ruling is ruling:
            # Somebody ruled the same a moment earlier.
            return case
        raise


def undo_as_seen(
    comment_id: CommentId, services: Services, *, undone_by: str, seen_decision_id: str | None
) -> Case:
    """Take back the decision that was seen, and return the case as it stands then.

    A decision that is undone already changes nothing. Raises `ConflictError` if another one is in
    force by now, and what `undo_decision` raises.
    """
    case = services.cases.get(comment_id)
    _refuse_stale(case, seen_decision_id, ruling=None)
    if case.decision is None:
        return case
    return undo_decision(comment_id, services, undone_by=undone_by, decision_id=case.decision.id)


def _was_made(case: Case, decision_id: str | None) -> bool:
    return any(one.id == decision_id for one in case.decisions)


def _refuse_stale(case: Case, seen_decision_id: str | None, *, ruling: Ruling | None) -> None:
    current = case.decision
    if current is None or current.id == seen_decision_id or current.ruling is ruling:
        return
    msg = f"{current.decided_by} decided this comment in the meantime: {current.ruling}"
    raise ConflictError(msg)


def _criteria(tab: Tab, site_ids: tuple[SiteId, ...] | None) -> CaseFilter:
    return CaseFilter(
        site_ids=site_ids,
        needs_review=True if tab is Tab.NEEDS_REVIEW else None,
        held_as_spam=tab is Tab.HELD_AS_SPAM,
        outcome={Tab.SPAM: Outcome.SPAM, Tab.HAM: Outcome.HAM}.get(tab),
        state=State.DECIDED if tab is Tab.DECIDED else None,
    )
