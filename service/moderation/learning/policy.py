"""Takes a site's policy's rejections back once people no longer reject enough of the campaign."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from service.domain.campaign import CAMPAIGN_POLICY, PeoplesRulings
from service.domain.case import Case
from service.domain.decision import Decision
from service.moderation.admin.acts import make_act
from service.moderation.telling.rulings import undo_rulings
from service.ports.audit import AuditEntry
from service.ports.services import Services

# Members that people must have rejected before a site's policy goes on in their stead. A choice, no
# measurement: more than one slip of the hand, few enough for a campaign to be met while it runs.
REJECTED_BY_PEOPLE = 5
# Undone in one transaction: on SQLite nobody else writes meanwhile.
_PORTION = 250


def may_reject(rulings: PeoplesRulings) -> bool:
    """Return True if people rejected enough of a campaign and approved none of it."""
    return not rulings.approved and rulings.rejected >= REJECTED_BY_PEOPLE


def recheck_policy(campaign_ids: Collection[str], services: Services) -> int:
    """Take back what policies rejected in those campaigns that they may not reject any more.

    Called after people's rejections were taken back. The comments wait for a person again, and
    their sites are told what they were told of the rejection. May be made again after a crash.
    Return how many were taken back; the log tells it by campaign, at most 250 in an entry. Raises
    `StoreUnavailableError`.
    """
    return sum(
        _take_back(campaign_id, services)
        for campaign_id in sorted(campaign_ids)
        if not may_reject(services.campaigns.peoples_rulings(campaign_id))
    )


def _take_back(campaign_id: str, services: Services) -> int:
    taken_back, cursor = 0, None
    while True:
        page = services.campaigns.members(
            campaign_id, site_ids=None, waiting_only=False, cursor=cursor, limit=_PORTION
        )
        rejected = [case for case in page.cases if _is_by_policy(case)]
        taken_back += _undo(campaign_id, rejected, services) if rejected else 0
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


def _undo(campaign_id: str, cases: Sequence[Case], services: Services) -> int:
    def act(undone: Sequence[Decision]) -> list[AuditEntry]:
        detail = f"{len(undone)} rejections taken back: people no longer reject enough of it"
        return [
            make_act(
                services, actor=CAMPAIGN_POLICY, act="undo", subject=campaign_id, detail=detail
            )
        ]

    undone = undo_rulings(cases, services, by=CAMPAIGN_POLICY, acts=act)
    # Nobody learns from what a policy does.
    services.decisions.mark_remembered([one.decision for one in undone])
    return len(undone)
