"""Tells beside a comment, and above the queue, which campaigns there are to decide together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flask import url_for

from service.domain.campaign import FEWEST_SHOWN
from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from service.domain.site import Site
from service.web.pages.common.pages import services
from service.web.pages.common.targets_view import TargetView, present_targets
from service.web.pages.review.campaign_views import MemberView, present_member

_OTHERS_SHOWN = 5
_STRIPS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarView:
    """The campaign of a comment: its numbers, as one sees them, and its newest other members."""

    url: str
    members: int
    waiting: int
    approved: int
    rejected: int
    others: tuple[MemberView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripView:
    """One campaign with many waiting members, as a line above the queue."""

    url: str
    waiting: int
    targets: tuple[TargetView, ...]


def similar_view(
    case: Case,
    site_ids: Sequence[SiteId] | None,
    sites: Mapping[SiteId, Site],
) -> SimilarView | None:
    """Return what a comment's page shows of others like it, None where there are too few.

    Nothing is told of other sites than `site_ids`; None means all. `sites` are all there are.
    """
    if case.campaign_id is None:
        return None
    try:
        campaign = services.clusters.campaigns.get(case.campaign_id, site_ids=site_ids)
    except NotFoundError:
        return None
    if campaign.members < FEWEST_SHOWN:
        return None
    page = services.clusters.campaigns.members(
        campaign.id, site_ids=site_ids, waiting_only=False, cursor=None, limit=_OTHERS_SHOWN + 1
    )
    now = services.common.clock()
    others = [one for one in page.cases if one.comment.id != case.comment.id][:_OTHERS_SHOWN]
    return SimilarView(
        url=url_for("pages.campaign", campaign_id=campaign.id),
        members=campaign.members,
        waiting=campaign.waiting,
        approved=campaign.approved,
        rejected=campaign.rejected,
        others=tuple(present_member(one, sites=sites, now=now) for one in others),
    )


def campaign_strip_view(site_ids: Sequence[SiteId] | None) -> tuple[StripView, ...]:
    """Return the few campaigns with the most waiting members at these sites; None means all."""
    found = services.clusters.campaigns.most_waiting(site_ids=site_ids, limit=_STRIPS_SHOWN)
    return tuple(
        StripView(
            url=url_for("pages.campaign", campaign_id=one.id),
            waiting=one.waiting,
            targets=present_targets(one.targets[:1]),
        )
        for one in found
    )
