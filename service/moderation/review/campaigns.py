"""Decides a campaign in one stroke, with exceptions, and takes comments out of a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from service.domain.campaign import is_low
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.stroke import Stroke, StrokeOf
from service.moderation.admin.acts import record_act
from service.moderation.review.strokes import PORTION, decide_together
from service.ports.services import Services

# Decided within one request, at some 1,000 a second; whoever has more waiting presses twice.
MOST_AT_ONCE = 5_000


def decide_campaign(
    campaign_id: str,
    ruling: Ruling,
    services: Services,
    *,
    ticked: Sequence[CommentId],
    unticked: Sequence[CommentId],
    others_until: datetime | None,
    exceptions_leave: bool,
    decided_by: str,
    site_ids: tuple[SiteId, ...] | None,
    note: str | None = None,
    stroke_id: str | None = None,
) -> Stroke | None:
    """Rule on ticked members, and return the stroke; None if there is nothing left to rule on.

    With `others_until` all other members that wait and were received by then are ruled on as well,
    at most `MOST_AT_ONCE`, but for the `unticked` and those below `LOW_P_SPAM`: nobody saw them.
    Members that somebody decided in the meantime are left alone. With `exceptions_leave` the
    unticked ones leave the campaign. Nothing is done to comments of other sites than `site_ids`,
    None means all. Raises what `decide_together` raises.
    """
    seen = {*ticked, *unticked}
    wanted = list(dict.fromkeys(ticked))
    if others_until is not None:
        others = services.campaigns.waiting_ids(
            campaign_id,
            site_ids=site_ids,
            received_until=others_until,
            limit=MOST_AT_ONCE + len(seen),
        )
        wanted += [one for one in others if one not in seen][:MOST_AT_ONCE]
    open_ids = [
        case.comment.id
        for start in range(0, len(wanted), PORTION)
        for case in services.cases.find(wanted[start : start + PORTION])
        if case.campaign_id == campaign_id
        and case.decision is None
        and (case.comment.id in seen or not is_low(case))
    ]
    stroke = None
    if open_ids:
        stroke = decide_together(
            open_ids,
            ruling,
            services,
            decided_by=decided_by,
            what=StrokeOf.CAMPAIGN,
            note=note,
            stroke_id=stroke_id,
            site_ids=site_ids,
            open_only=True,
        )
    if exceptions_leave and unticked:
        _take_out(campaign_id, unticked, services, by=decided_by, site_ids=site_ids)
    return stroke


def put_back(
    campaign_id: str, services: Services, *, by: str, site_ids: tuple[SiteId, ...] | None
) -> int:
    """Let comments that were taken out of a campaign be its members again; return how many."""
    back = services.campaigns.rejoin(campaign_id, site_ids=site_ids)
    if back:
        _log(services, by=by, act="put back into campaign", subject=campaign_id, count=len(back))
    return len(back)


def _take_out(
    campaign_id: str,
    ids: Sequence[CommentId],
    services: Services,
    *,
    by: str,
    site_ids: tuple[SiteId, ...] | None,
) -> None:
    theirs = [
        case.comment.id
        for case in services.cases.find(ids)
        if site_ids is None or case.comment.site_id in site_ids
    ]
    left = services.campaigns.leave(campaign_id, theirs)
    if left:
        _log(services, by=by, act="take out of campaign", subject=campaign_id, count=len(left))


def _log(services: Services, *, by: str, act: str, subject: str, count: int) -> None:
    record_act(services, actor=by, act=act, subject=subject, detail=f"{count} comments")
