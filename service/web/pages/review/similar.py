"""Finds, for a comment and for the queue, which campaigns there are to decide together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.domain.campaign import FEWEST_SHOWN
from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from service.web.pages.common.pages import services

_OTHERS_SHOWN = 5


def similar_view(case: Case, site_ids: Sequence[SiteId] | None) -> dict[str, Any] | None:
    """Return a comment's campaign and its newest other members, None where there are too few.

    Nothing is told of other sites than `site_ids`; None means all.
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
    others = [one for one in page.cases if one.comment.id != case.comment.id][:_OTHERS_SHOWN]
    return {"campaign": campaign, "others": others}
