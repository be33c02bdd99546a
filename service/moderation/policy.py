"""Takes a site's policy's rejections back once people no longer reject enough of the campaign."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import replace

from service.domain.campaign import CAMPAIGN_POLICY, PeoplesRulings
from service.domain.case import Case
from service.domain.precedent import Precedent
from service.moderation.acts import record_act
from service.moderation.announce import wake_deliverers, write_decision_messages
from service.moderation.remember import remember
from service.ports import Services

log = logging.getLogger(__name__)

# Members that people must have rejected before a site's policy goes on in their stead. A choice, no
# measurement: more than one slip of the hand, few enough for a campaign to be met while it runs.
REJECTED_BY_PEOPLE = 5
# Undone in one transaction: on SQLite nobody else writes meanwhile.
_PORTION = 250


def may_reject(rulings: PeoplesRulings) -> bool:
    """Say whether people rejected enough of a campaign, and approved none of it."""
    return not rulings.approved and rulings.rejected >= REJECTED_BY_PEOPLE


def recheck_policy(campaign_ids: Collection[str], services: Services) -> int:
    """Take back what policies rejected in those campaigns that they may not reject any more.

    Called after people's rejections were taken back. The comments wait for a person again, and
    their sites are told what they were told of the rejection. May be made again after a crash.
    Return how many were taken back. Raises `StoreUnavailableError`.
    """
    taken_back = 0
    for campaign_id in sorted(campaign_ids):
        if may_reject(services.campaigns.peoples_rulings(campaign_id)):
            continue
        now = _take_back(campaign_id, services)
        taken_back += now
        if now:
            detail = f"{now} rejections taken back: people no longer reject enough of it"
            record_act(
                services, actor=CAMPAIGN_POLICY, act="undo", subject=campaign_id, detail=detail
            )
    return taken_back


def _take_back(campaign_id: str, services: Services) -> int:
    taken_back, cursor = 0, None
    while True:
        page = services.campaigns.members(
            campaign_id, site_ids=None, waiting_only=False, cursor=cursor, limit=_PORTION
        )
        rejected = [case for case in page.cases if _is_by_policy(case)]
        taken_back += _undo(rejected, services) if rejected else 0
        cursor = page.next_cursor
        if cursor is None:
            return taken_back


def _is_by_policy(case: Case) -> bool:
    decision = case.decision
    return (
        case.withdrawn_at is None
        and decision is not None
        and decision.decided_by == CAMPAIGN_POLICY
    )


def _undo(cases: Sequence[Case], services: Services) -> int:
    told = write_decision_messages([replace(case, decisions=()) for case in cases], services)
    undone = services.decisions.undo_many(
        [case.decision for case in cases if case.decision],
        by=CAMPAIGN_POLICY,
        at=services.clock(),
        deliveries=told,
    )
    comments = {case.comment.id: case.comment for case in cases}
    remember(
        [Precedent(decision=one, comment=comments[one.comment_id]) for one in undone], services
    )
    if told:
        wake_deliverers(services)
    return len(undone)
