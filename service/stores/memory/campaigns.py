"""Keeps campaigns in memory."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.campaigns.traits import Traits
from service.domain.campaign import (
    FEWEST_SHOWN,
    SELLS_P_SPAM,
    Campaign,
    CampaignPage,
    PeoplesRulings,
    WaitingCampaign,
    is_by_person,
    is_low,
)
from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.errors import NotFoundError
from service.ports.campaigns import (
    Lease,
    MemberPage,
    Placement,
    TraitsPage,
)
from service.stores.campaign_cursor import CampaignPlace, decode_place, encode_place
from service.stores.campaign_parts import BEGINNINGS, READ_FOR_TARGETS, most_common

_LIST = "campaigns"
_MEMBERS = "members"


@dataclass(slots=True, kw_only=True)
class KeptTraits:
    """A comment's traits, since when it is placed, and which campaign it was taken out of."""

    traits: Traits
    grouped_at: datetime | None = None
    left_campaign_id: str | None = None


class MemoryCampaignStore:
    """Keeps campaigns in memory; see `CampaignStore`."""

    def __init__(
        self,
        lock: threading.RLock,
        *,
        traits: dict[CommentId, KeptTraits],
        campaign_of: dict[CommentId, str],
        case_of: Callable[[CommentId], Case],
    ) -> None:
        self._lock = lock
        self._traits = traits
        self._campaign_of = campaign_of
        self._case_of = case_of
        self._last_seen: dict[str, datetime] = {}
        self._lease: tuple[str, datetime] | None = None

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """See `CampaignStore.take_lease`."""
        with self._lock:
            if self._lease is not None and self._lease[1] > now:
                if self._lease[0] != holder:
                    return Lease.REFUSED
                self._lease = (holder, until)
                return Lease.KEPT
            self._lease = (holder, until)
            return Lease.TAKEN

    def fresh(self, *, limit: int) -> list[Traits]:
        """See `CampaignStore.fresh`."""
        with self._lock:
            fresh = [one.traits for one in self._traits.values() if one.grouped_at is None]
            return fresh[:limit]

    def place_before(self, most: int) -> int:
        """See `CampaignStore.place_before`."""
        with self._lock:
            return max(0, len(self._traits) - most)

    def grouped(self, *, after: int, limit: int) -> TraitsPage:
        """See `CampaignStore.grouped`."""
        with self._lock:
            found = [
                (number, one.traits)
                for number, one in enumerate(self._traits.values(), 1)
                if number > after and one.grouped_at and one.left_campaign_id is None
            ][:limit]
        return TraitsPage(
            traits=tuple(traits for _, traits in found),
            next_after=found[-1][0] if found else None,
        )

    def place(self, placements: Sequence[Placement], *, at: datetime) -> Mapping[CommentId, str]:
        """See `CampaignStore.place`."""
        joined = {}
        with self._lock:
            for one in placements:
                kept = self._traits.get(one.comment_id)
                if kept is None or kept.grouped_at is not None:
                    continue
                kept.grouped_at = at
                campaign_id = self._campaign_drawn_into(one)
                if campaign_id is not None and one.comment_id not in self._campaign_of:
                    self._join(one.comment_id, campaign_id)
                    joined[one.comment_id] = campaign_id
        return joined

    def _campaign_drawn_into(self, one: Placement) -> str | None:
        like = self._traits.get(one.like) if one.like is not None else None
        if like is None or one.like is None or like.left_campaign_id is not None:
            return None
        if one.like not in self._campaign_of:
            self._join(one.like, one.new_campaign_id)
        return self._campaign_of[one.like]

    def _join(self, comment_id: CommentId, campaign_id: str) -> None:
        received_at = self._case_of(comment_id).comment.received_at
        self._campaign_of[comment_id] = campaign_id
        last_seen = self._last_seen.get(campaign_id, received_at)
        self._last_seen[campaign_id] = max(last_seen, received_at)

    def leave(self, group_id: str, ids: Sequence[CommentId]) -> list[CommentId]:
        """See `GroupStore.leave`."""
        with self._lock:
            left = sorted(
                comment_id
                for comment_id in set(ids)
                if self._campaign_of.get(comment_id) == group_id
            )
            for comment_id in left:
                del self._campaign_of[comment_id]
                if comment_id in self._traits:
                    self._traits[comment_id].left_campaign_id = group_id
            return left

    def rejoin(self, group_id: str, *, site_ids: Sequence[SiteId] | None) -> list[CommentId]:
        """See `GroupStore.rejoin`."""
        with self._lock:
            back = sorted(self._left(group_id, site_ids))
            for comment_id in back:
                self._traits[comment_id].left_campaign_id = None
                self._campaign_of[comment_id] = group_id
            return back

    def page(
        self,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> CampaignPage:
        """See `GroupStore.page`."""
        with self._lock:
            places = [
                CampaignPlace(
                    waiting=sum(case.needs_review for case in members),
                    at=self._last_seen[campaign_id],
                    id=campaign_id,
                )
                for campaign_id, members in self._by_campaign(site_ids).items()
                if len(members) >= FEWEST_SHOWN
            ]
            places = [one for one in places if one.waiting or not waiting_only]
            places.sort(key=lambda one: one.id)
            places.sort(key=lambda one: (one.waiting, one.at), reverse=True)
            if cursor is not None:
                last = decode_place(cursor, of=_LIST)
                places = [one for one in places if _comes_after(one, last)]
            shown = tuple(self.get(one.id, site_ids=site_ids) for one in places[:limit])
        more = len(places) > limit
        return CampaignPage(
            campaigns=shown,
            next_cursor=encode_place(places[limit - 1], of=_LIST) if more else None,
        )

    def most_waiting(
        self, *, site_ids: Sequence[SiteId] | None, limit: int
    ) -> list[WaitingCampaign]:
        """See `CampaignStore.most_waiting`."""
        page = self.page(site_ids=site_ids, waiting_only=True, cursor=None, limit=limit)
        return [
            WaitingCampaign(id=one.id, waiting=one.waiting, targets=one.targets)
            for one in page.campaigns
            if one.waiting >= FEWEST_SHOWN
        ]

    def get(self, group_id: str, *, site_ids: Sequence[SiteId] | None) -> Campaign:
        """See `GroupStore.get`."""
        with self._lock:
            members = self._members(group_id, site_ids)
            if not members:
                msg = f"there is no campaign {group_id!r}"
                raise NotFoundError(msg)
            newest = members[:READ_FOR_TARGETS]
            kept = [self._traits.get(case.comment.id) for case in newest if _sells(case)]
            received = [case.comment.received_at for case in members]
            rulings = [case.decision.ruling for case in members if case.decision]
            posts = {(case.comment.site_id, case.comment.post.url) for case in members}
            return Campaign(
                id=group_id,
                members=len(members),
                waiting=sum(case.needs_review for case in members),
                low=sum(case.needs_review and is_low(case) for case in members),
                approved=rulings.count(Ruling.APPROVE),
                rejected=rulings.count(Ruling.REJECT),
                left=len(self._left(group_id, site_ids)),
                site_ids=tuple(sorted({case.comment.site_id for case in members})),
                posts=sum(url is not None for _, url in posts),
                targets=most_common(t for one in kept if one for t in one.traits.targets),
                first_seen_at=min(received),
                last_seen_at=max(received),
                beginnings=tuple(
                    sorted(members, key=lambda case: not case.needs_review)[:BEGINNINGS]
                ),
            )

    def members(
        self,
        group_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> MemberPage:
        """See `GroupStore.members`."""
        with self._lock:
            cases = self._members(group_id, site_ids)
        if waiting_only:
            cases = [case for case in cases if case.needs_review]
        if cursor is not None:
            last = decode_place(cursor, of=_MEMBERS)
            cases = [
                case
                for case in cases
                if (case.comment.received_at, case.comment.id) < (last.at, last.id)
            ]
        if len(cases) <= limit:
            return MemberPage(cases=tuple(cases))
        end = cases[limit - 1].comment
        place = CampaignPlace(waiting=0, at=end.received_at, id=end.id)
        return MemberPage(cases=tuple(cases[:limit]), next_cursor=encode_place(place, of=_MEMBERS))

    def waiting_ids(
        self,
        group_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        received_until: datetime,
        limit: int,
    ) -> list[CommentId]:
        """See `GroupStore.waiting_ids`."""
        with self._lock:
            cases = self._members(group_id, site_ids)
        return [
            case.comment.id
            for case in cases
            if case.needs_review and case.comment.received_at <= received_until
        ][:limit]

    def among(self, group_id: str, ids: Sequence[CommentId]) -> set[CommentId]:
        """See `GroupStore.among`."""
        with self._lock:
            return {one for one in ids if self._campaign_of.get(one) == group_id}

    def peoples_rulings(self, campaign_id: str) -> PeoplesRulings:
        """See `CampaignStore.peoples_rulings`."""
        with self._lock:
            decisions = [case.decision for case in self._members(campaign_id, None)]
        rulings = [one.ruling for one in decisions if one is not None and is_by_person(one)]
        return PeoplesRulings(
            approved=rulings.count(Ruling.APPROVE), rejected=rulings.count(Ruling.REJECT)
        )

    def _members(self, campaign_id: str, site_ids: Sequence[SiteId] | None) -> list[Case]:
        """Return a campaign's members at these sites, the newest first."""
        return self._by_campaign(site_ids).get(campaign_id, [])

    def _by_campaign(self, site_ids: Sequence[SiteId] | None) -> Mapping[str, list[Case]]:
        found: defaultdict[str, list[Case]] = defaultdict(list)
        for comment_id, campaign_id in self._campaign_of.items():
            case = self._case_of(comment_id)
            if site_ids is None or case.comment.site_id in site_ids:
                found[campaign_id].append(case)
        for members in found.values():
            members.sort(key=lambda c: (c.comment.received_at, c.comment.id), reverse=True)
        return found

    def _left(self, campaign_id: str, site_ids: Sequence[SiteId] | None) -> list[CommentId]:
        return [
            comment_id
            for comment_id, kept in self._traits.items()
            if kept.left_campaign_id == campaign_id
            and (site_ids is None or self._case_of(comment_id).comment.site_id in site_ids)
        ]


def _sells(case: Case) -> bool:
    return case.verdict is not None and case.verdict.p_spam >= SELLS_P_SPAM


def _comes_after(place: CampaignPlace, last: CampaignPlace) -> bool:
    if (place.waiting, place.at) == (last.waiting, last.at):
        return place.id > last.id
    return (place.waiting, place.at) < (last.waiting, last.at)
