"""Finds what is shown beside an opened comment: its sender, its campaign, what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from service.domain.campaign import FEWEST_SHOWN
from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.errors import NotFoundError
from service.domain.sender_record import SenderRecord
from service.web.edge.current import services
from service.web.pages.common.pages import moderator

_OTHERS_SHOWN = 5
# Threads may be endless, or loop.
_MOST_ABOVE = 3


def about_sender_view(case: Case, site_ids: Sequence[SiteId] | None) -> SenderRecord | None:
    """Return what is known of a comment's sender from these sites' other comments.

    None where nothing of the sender is kept: nothing came with the comment, or it was withdrawn.
    """
    if case.withdrawn_at is not None:
        return None
    record = services.sender_records.look_up(case.comment, site_ids=site_ids)
    return record if record.traits else None


def similar_view(case: Case, site_ids: Sequence[SiteId] | None) -> dict[str, Any] | None:
    """Return a comment's campaign and its newest other members, None where there are too few.

    Nothing is told of other sites than `site_ids`; None means all.
    """
    if case.campaign_id is None:
        return None
    try:
        campaign = services.campaigns.get(case.campaign_id, site_ids=site_ids)
    except NotFoundError:
        return None
    if campaign.members < FEWEST_SHOWN:
        return None
    page = services.campaigns.members(
        campaign.id, site_ids=site_ids, waiting_only=False, cursor=None, limit=_OTHERS_SHOWN + 1
    )
    others = [one for one in page.cases if one.comment.id != case.comment.id][:_OTHERS_SHOWN]
    return {"campaign": campaign, "others": others}


def thread_view(case: Case) -> list[Case]:
    """Return the comments above this one, the first of the thread first, itself left out."""
    above: list[Case] = []
    seen = {case.comment.id}
    current = case
    while current.comment.reply_to and len(above) < _MOST_ABOVE:
        site_id, named = current.comment.site_id, current.comment.reply_to
        found = services.comments.find_by_site_ids(site_id, [named]).get(named)
        if found is None or found in seen or not moderator().sees(site_id):
            break
        seen.add(found)
        current = services.cases.get(found)
        above.append(current)
    return above[::-1]
