"""Groups judged comments into campaigns, applies sites' policies, and decides campaigns.

Only one process at a time groups, with a lease in the database. Its memory of recent traits finds
similar comments, and the database has their campaigns. Grouping a comment twice changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from service.campaigns.traits import Traits
from service.domain.campaign import CAMPAIGN_POLICY, is_low
from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import BulkDecision, ChosenBy, Ruling
from service.domain.errors import ConflictError, NotFoundError
from service.domain.verdict import Outcome
from service.moderation.acts import counting_act
from service.moderation.decisions import PORTION, decide_comment, decide_together
from service.moderation.remembering import may_reject
from service.ports.audit import AuditEntry
from service.ports.comments import Lease, Placement
from service.ports.services import Services

if TYPE_CHECKING:
    from service.campaigns.grouping import Grouping

log = logging.getLogger(__name__)

# A dead process's lease ends after this; a live process renews it at every turn.
_LEASE = timedelta(seconds=30)
MOST_REMEMBERED = 200_000
# Grouped in one transaction, during which SQLite has no other writer.
GROUPED_AT_ONCE = 50


@dataclass(slots=True)
class GroupingMemory:
    """The traits that a process has read; `holder` is its name on the lease.

    They are None while another process groups; `fill_after` is where to read on, None at the end.
    """

    holder: str
    grouping: Grouping | None = None
    fill_after: int | None = None


def group_fresh(
    services: Services, memory: GroupingMemory, *, should_continue: Callable[[], bool]
) -> int:
    """Group new comments, if this process has the lease; return their number.

    Ends once `should_continue` returns False. A new holder reads earlier traits first. Raises
    `StoreUnavailableError`; call it again.
    """
    now = services.clock()
    lease = services.campaigns.take_lease(memory.holder, now=now, until=now + _LEASE)
    if lease is not Lease.KEPT:
        memory.grouping = memory.fill_after = None
    grouping = memory.grouping
    if lease is Lease.REFUSED or (grouping is None and not services.campaigns.fresh(limit=1)):
        return 0
    if grouping is None:
        # Imported late: numpy takes 25 MB, which an idle installation does not need.
        from service.campaigns.grouping import Grouping

        grouping = memory.grouping = Grouping(max_remembered=MOST_REMEMBERED)
        memory.fill_after = services.campaigns.place_before(MOST_REMEMBERED)
    _fill(grouping, memory, services, should_continue=should_continue)
    placed = 0
    while memory.fill_after is None:
        some = services.campaigns.fresh(limit=GROUPED_AT_ONCE)
        if some:
            _place(some, grouping, services)
            placed += len(some)
        if len(some) < GROUPED_AT_ONCE or not should_continue():
            break
    return placed


def _fill(
    grouping: Grouping,
    memory: GroupingMemory,
    services: Services,
    *,
    should_continue: Callable[[], bool],
) -> None:
    while memory.fill_after is not None:
        page = services.campaigns.grouped(after=memory.fill_after, limit=2_000)
        for traits in page.items:
            grouping.remember(traits, None)
        memory.fill_after = page.next_cursor
        if not should_continue():
            return


def _place(fresh: Sequence[Traits], grouping: Grouping, services: Services) -> None:
    new_id = services.new_id
    placements = [
        Placement(
            comment_id=one.comment_id, like=_find(one, grouping), new_campaign_id=new_id("camp")
        )
        for one in fresh
    ]
    joined = services.campaigns.place(placements, at=services.clock())
    for one in placements:
        if one.like is not None and one.comment_id not in joined:
            # It was withdrawn, erased or taken out of its campaign meanwhile.
            grouping.forget(one.like)
    if joined:
        log.info("comments joined campaigns", extra={"joined": len(joined), "of": len(fresh)})
        _apply_policies(joined, services)


def _find(traits: Traits, grouping: Grouping) -> CommentId | None:
    try:
        found = grouping.find(traits)
        grouping.remember(traits, found.campaign_id if found else None)
    except Exception:  # an error of one comment must not stop the others
        extra = {"comment_id": traits.comment_id}
        log.exception("a comment cannot be compared with others", extra=extra)
        return None
    return found.comment_id if found else None


def _apply_policies(joined: Mapping[CommentId, str], services: Services) -> None:
    wishing = {site.id for site in services.sites.all() if site.settings.rejects_campaigns}
    for case in services.cases.find(list(joined)) if wishing else ():
        if case.comment.site_id not in wishing or not _may_be_settled(case):
            continue
        rulings = services.campaigns.peoples_rulings(joined[case.comment.id])
        if not may_reject(rulings):
            continue
        # It may have been withdrawn or decided meanwhile.
        with suppress(ConflictError, NotFoundError):
            decide_comment(
                case.comment.id,
                Ruling.REJECT,
                services,
                decided_by=CAMPAIGN_POLICY,
                note=f"People rejected {rulings[Ruling.REJECT]} of its campaign and approved none.",
                # A policy never overrides a person.
                instead_of=(),
            )


def _may_be_settled(case: Case) -> bool:
    """Return True if a comment is unsure, not degraded, and neither reported, appealed nor decided.

    Comments that look sincere always wait for a person.
    """
    verdict = case.verdict
    return (
        case.needs_review
        and verdict is not None
        and verdict.outcome is Outcome.UNSURE
        and not is_low(case)
        and not verdict.degraded
        and not case.reports
        and case.appeal is None
    )


# About 1,000 are decided a second within the request; more need a second one.
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
    """Rule on ticked members; return the bulk decision, None if nothing is left to rule on.

    `others_until` includes all other waiting members received by then, at most `MOST_AT_ONCE`,
    except the `unticked` and those below `LOW_P_SPAM`. Members that were decided meanwhile are left
    alone. With `exceptions_leave` the unticked ones leave the campaign. Only comments of `site_ids`
    are changed; None means all. Raises as `decide_together`.
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
        act = _act("take out of campaign", campaign_id, services, by=decided_by)
        campaigns.leave(campaign_id, theirs, act=act)
    return bulk_decision


def put_back(
    campaign_id: str, services: Services, *, by: str, site_ids: tuple[SiteId, ...] | None
) -> int:
    """Return excluded comments to their campaign; return their number."""
    act = _act("put back into campaign", campaign_id, services, by=by)
    return len(services.campaigns.rejoin(campaign_id, site_ids=site_ids, act=act))


def _act(act: str, campaign_id: str, services: Services, *, by: str) -> Callable[[int], AuditEntry]:
    return counting_act(services, actor=by, act=act, subject=campaign_id, detail="{} comments")
