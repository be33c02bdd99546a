"""Decides a campaign in one go, with exceptions, and takes comments out of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from service.domain.campaign import is_low
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, ChosenBy, Ruling
from service.moderation.admin.acts import make_act
from service.moderation.review.bulk_decisions import PORTION, decide_together
from service.ports.audit import AuditEntry
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
    bulk_decision_id: str | None = None,
) -> BulkDecision | None:
    """Rule on ticked members, and return the bulk decision; None if nothing is left to rule on.

    With `others_until` all other members that wait and were received by then are ruled on as well,
    at most `MOST_AT_ONCE`, but for the `unticked` and those below `LOW_P_SPAM`: nobody saw them.
    Members that somebody decided in the meantime are left alone. With `exceptions_leave` the
    unticked ones leave the campaign. Nothing is done to comments of other sites than `site_ids`;
    None means all. Raises what `decide_together` raises.
    """
    campaigns = services.campaigns
    seen = {*ticked, *unticked}
    wanted = list(dict.fromkeys(ticked))
    if others_until is not None:
        others = campaigns.waiting_ids(
            campaign_id,
            site_ids=site_ids,
            received_until=others_until,
            limit=MOST_AT_ONCE + len(seen),
        )
        wanted += [one for one in others if one not in seen][:MOST_AT_ONCE]
    members = campaigns.among(campaign_id, wanted)
    wanted = [one for one in wanted if one in members]
    open_ids = [
        case.comment.id
        for start in range(0, len(wanted), PORTION)
        for case in services.cases.find(wanted[start : start + PORTION])
        if case.decision is None and (case.comment.id in seen or not is_low(case))
    ]
    bulk_decision = None
    if open_ids:
        bulk_decision = decide_together(
            open_ids,
            ruling,
            services,
            decided_by=decided_by,
            what=ChosenBy.CAMPAIGN,
            note=note,
            bulk_decision_id=bulk_decision_id,
            site_ids=site_ids,
            open_only=True,
        )
    if exceptions_leave and unticked:
        theirs = [
            case.comment.id
            for case in services.cases.find(unticked)
            if site_ids is None or case.comment.site_id in site_ids
        ]
        act = _acts("take out of campaign", campaign_id, services, by=decided_by)
        campaigns.leave(campaign_id, theirs, act=act)
    return bulk_decision


def put_back(
    campaign_id: str, services: Services, *, by: str, site_ids: tuple[SiteId, ...] | None
) -> int:
    """Let comments that were taken out of a campaign be its members again; return how many."""
    act = _acts("put back into campaign", campaign_id, services, by=by)
    return len(services.campaigns.rejoin(campaign_id, site_ids=site_ids, act=act))


def _acts(
    act: str, campaign_id: str, services: Services, *, by: str
) -> Callable[[int], AuditEntry]:
    """Return what makes the log's entry of an act on so many comments."""

    def make(count: int) -> AuditEntry:
        return make_act(
            services, actor=by, act=act, subject=campaign_id, detail=f"{count} comments"
        )

    return make
