"""Lists comments for moderators."""

from __future__ import annotations

from enum import StrEnum

from service.domain.case import CaseFilter, CasePage, Order, State
from service.domain.comment import SiteId
from service.domain.verdict import Outcome
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


def _criteria(tab: Tab, site_ids: tuple[SiteId, ...] | None) -> CaseFilter:
    return CaseFilter(
        site_ids=site_ids,
        needs_review=True if tab is Tab.NEEDS_REVIEW else None,
        held_as_spam=tab is Tab.HELD_AS_SPAM,
        outcome={Tab.SPAM: Outcome.SPAM, Tab.HAM: Outcome.HAM}.get(tab),
        state=State.DECIDED if tab is Tab.DECIDED else None,
    )
