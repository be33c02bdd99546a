"""Lists comments for moderators, and shows each who else looks at one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum

from service.domain.case import Case, CaseFilter, CasePage, Claim, Order, State
from service.domain.comment import CommentId, SiteId
from service.domain.errors import StoreUnavailableError
from service.domain.user import User
from service.domain.verdict import Outcome
from service.ports.services import Services

# Three missed renewals of the page's script; without a script, as long as most decisions take.
CLAIM_LASTS = timedelta(seconds=90)


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


def _criteria(tab: Tab, site_ids: tuple[SiteId, ...] | None) -> CaseFilter:
    return CaseFilter(
        site_ids=site_ids,
        needs_review=True if tab is Tab.NEEDS_REVIEW else None,
        held_as_spam=tab is Tab.HELD_AS_SPAM,
        outcome={Tab.SPAM: Outcome.SPAM, Tab.HAM: Outcome.HAM}.get(tab),
        state=State.DECIDED if tab is Tab.DECIDED else None,
    )


def claim_comment(case: Case, user: User, services: Services) -> Claim | None:
    """Claim a comment for who opens it or still looks at it; return the claim in force then.

    That may be somebody else's. There is none on a comment that is decided or withdrawn, and none
    while the store is away: a claim is a courtesy that never keeps anybody from deciding.
    """
    if not case.is_open:
        return None
    now = services.clock()
    claim = Claim(
        comment_id=case.comment.id,
        user_id=user.id,
        user_name=user.name,
        since=now,
        until=now + CLAIM_LASTS,
    )
    try:
        return services.claims.take(claim)
    except StoreUnavailableError:
        return None


def end_claim(comment_id: CommentId, services: Services, *, user: User | None = None) -> None:
    """End the claim on a comment: this moderator's own, or anybody's once it is decided."""
    try:
        services.claims.end(comment_id, user_id=user.id if user else None)
    except StoreUnavailableError:
        # It ends by itself.
        return


def claims_of_others(
    ids: Sequence[CommentId], user: User, services: Services
) -> Mapping[CommentId, Claim]:
    """Return who else looks at these comments now."""
    try:
        found = services.claims.find(ids, now=services.clock())
    except StoreUnavailableError:
        return {}
    return {one: claim for one, claim in found.items() if claim.user_id != user.id}
