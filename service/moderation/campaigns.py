"""Groups judged comments into campaigns, applies a site's policy to them, decides them in one go.

One process at a time groups, with a lease on a row of the database. It remembers the newest traits
in memory to find what a comment is like; the database says which campaign that means. Grouping a
comment twice changes nothing the second time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
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

# How long a process that died keeps the others from grouping; one that lives renews it every turn.
_LEASE = timedelta(seconds=30)
MOST_REMEMBERED = 200_000
# Placed in one transaction: on SQLite nobody else writes meanwhile.
GROUPED_AT_ONCE = 50


class GroupingMemory:
    """What a process remembers between its turns; `holder` is its name on the lease."""

    def __init__(self, holder: str, *, most: int = MOST_REMEMBERED) -> None:
        self.holder = holder
        self.most = most
        self.grouping: Grouping | None = None
        # From where on traits are still to be read again, None once all were.
        self.fill_after: int | None = None

    def begin(self, after: int) -> Grouping:
        """Remember nothing yet, with all after this place to be read again."""
        # Imported late: numpy takes 25 MB, and a place where nobody writes needs none.
        from service.campaigns.grouping import Grouping

        self.grouping = Grouping(max_remembered=self.most)
        self.fill_after = after
        return self.grouping

    def clear(self) -> None:
        """Give the memory back: somebody else groups now."""
        self.grouping = None
        self.fill_after = None


def group_fresh(services: Services, memory: GroupingMemory, *, goes_on: Callable[[], bool]) -> int:
    """Place fresh comments while `goes_on`, if it is this process's turn; return how many.

    Whose turn begins first reads what was placed already, over several calls if need be, as soon
    as there is anything to place.
    Raises `StoreUnavailableError`; the next call goes on where this one ended.
    """
    now = services.clock()
    lease = services.campaigns.take_lease(memory.holder, now=now, until=now + _LEASE)
    if lease is Lease.REFUSED:
        memory.clear()
        return 0
    if lease is Lease.TAKEN:
        memory.clear()
    if memory.grouping is None and not services.campaigns.fresh(limit=1):
        return 0
    grouping = memory.grouping
    if grouping is None:
        grouping = memory.begin(services.campaigns.place_before(memory.most))
    _fill(grouping, memory, services, goes_on=goes_on)
    placed = 0
    while memory.fill_after is None:
        some = services.campaigns.fresh(limit=GROUPED_AT_ONCE)
        if some:
            _place(some, grouping, services)
            placed += len(some)
        if len(some) < GROUPED_AT_ONCE or not goes_on():
            break
    return placed


def _fill(
    grouping: Grouping, memory: GroupingMemory, services: Services, *, goes_on: Callable[[], bool]
) -> None:
    """Read on in what was placed before, until all of it is remembered, while `goes_on`."""
    while memory.fill_after is not None:
        page = services.campaigns.grouped(after=memory.fill_after, limit=2_000)
        for traits in page.traits:
            grouping.remember(traits, None)
        memory.fill_after = page.next_after
        if not goes_on():
            return


def _place(fresh: Sequence[Traits], grouping: Grouping, services: Services) -> None:
    placements = []
    for traits in fresh:
        placement = Placement(
            comment_id=traits.comment_id,
            like=_find(traits, grouping),
            new_campaign_id=services.new_id("camp"),
        )
        placements.append(placement)
    joined = services.campaigns.place(placements, at=services.clock())
    for one in placements:
        if one.like is not None and one.comment_id not in joined:
            # Withdrawn, erased or taken out of its campaign since it was remembered.
            grouping.forget(one.like)
    if joined:
        log.info("comments joined campaigns", extra={"joined": len(joined), "of": len(fresh)})
        _apply_policies(joined, services)


def _find(traits: Traits, grouping: Grouping) -> CommentId | None:
    """Return the comment that this one is like, and remember it for those that come after."""
    try:
        found = grouping.find(traits)
        grouping.remember(traits, found.campaign_id if found else None)
    except Exception:  # whatever one comment provokes, others go on
        extra = {"comment_id": traits.comment_id}
        log.exception("a comment cannot be compared with others", extra=extra)
        return None
    return found.comment_id if found else None


def _apply_policies(joined: Mapping[CommentId, str], services: Services) -> None:
    """Reject who joined a campaign that people rejected, where the site's policy says so."""
    wishing = {site.id for site in services.sites.all() if site.settings.rejects_campaigns}
    for case in services.cases.find(list(joined)) if wishing else ():
        if case.comment.site_id in wishing and _may_be_settled(case):
            _reject_like_the_others(case, joined[case.comment.id], services)


def _may_be_settled(case: Case) -> bool:
    """Return True if a comment is unsure, not degraded, and neither reported, appealed nor decided.

    One that looks sincere waits for a person, whatever its campaign is.
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


def _reject_like_the_others(case: Case, campaign_id: str, services: Services) -> None:
    rulings = services.campaigns.peoples_rulings(campaign_id)
    if not may_reject(rulings):
        return
    # Nothing is to be done where it was withdrawn or decided in the meantime.
    with suppress(ConflictError, NotFoundError):
        decide_comment(
            case.comment.id,
            Ruling.REJECT,
            services,
            decided_by=CAMPAIGN_POLICY,
            note=f"People rejected {rulings.rejected} of its campaign and approved none.",
            # A policy overrules nobody.
            instead_of=(),
        )


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

    With `others_until` all other waiting members received by then are ruled on as well, at most
    `MOST_AT_ONCE`, except the `unticked` and those below `LOW_P_SPAM`. Members that were decided in
    the meantime are left alone. With `exceptions_leave` the unticked ones leave the campaign. Only
    comments of `site_ids` are changed; None means all. Raises what `decide_together` raises.
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
    """Let comments that were taken out of a campaign be its members again; return how many."""
    act = _act("put back into campaign", campaign_id, services, by=by)
    return len(services.campaigns.rejoin(campaign_id, site_ids=site_ids, act=act))


def _act(act: str, campaign_id: str, services: Services, *, by: str) -> Callable[[int], AuditEntry]:
    return counting_act(services, actor=by, act=act, subject=campaign_id, detail="{} comments")
