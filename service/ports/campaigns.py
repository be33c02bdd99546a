"""Campaigns and their members."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.campaigns.traits import Traits
from service.domain.campaign import Campaign, CampaignPage, PeoplesRulings, WaitingCampaign
from service.domain.case import Case
from service.domain.comment import CommentId, SiteId
from service.ports.audit import AuditEntry


class Lease(StrEnum):
    """What became of the wish to be the only one that does a thing, such as grouping comments."""

    # It was somebody else's before, or nobody's: what was done meanwhile is not known here.
    TAKEN = "taken"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitsPage:
    """Traits of grouped comments in the order they were judged in, and where the next page begins.

    `next_after` is None where nothing was found.
    """

    traits: tuple[Traits, ...]
    next_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A comment to be grouped, and an earlier one that it was found to be like, if any.

    `new_campaign_id` names the campaign that the two found if neither has one.
    """

    comment_id: CommentId
    like: CommentId | None
    new_campaign_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPage:
    """One page of a campaign's members; `next_cursor` is opaque and None on the last page."""

    cases: tuple[Case, ...]
    next_cursor: str | None = None


class CampaignStore(Protocol):
    """Keeps by what comments are recognised, and which of them belong to one campaign.

    Where `site_ids` is given, nothing is told of other sites; None means all sites.
    """

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """Let `holder` alone group comments till `until`, unless it is somebody else's turn now.

        Of several calls at once at most one is not REFUSED.
        """

    def fresh(self, *, limit: int) -> list[Traits]:
        """Return traits of comments that were never placed, the longest judged first."""

    def place_before(self, most: int) -> int:
        """Return a place after which at most `most` traits follow."""

    def grouped(self, *, after: int, limit: int) -> TraitsPage:
        """Return traits of placed comments in the order they were judged in.

        Comments that a moderator took out of their campaign are left out.
        """

    def place(self, placements: Sequence[Placement], *, at: datetime) -> Mapping[CommentId, str]:
        """Place comments in order, in one transaction; return who joined a campaign, and which.

        A comment joins the campaign of the one that it is like, or founds one with it. It stays
        single if that one is gone or was taken out of its campaign. A comment that was placed
        before, or has no traits any more, is left as it is and not returned: so of several
        calls at once one places it.
        """

    def leave(
        self,
        campaign_id: str,
        ids: Sequence[CommentId],
        *,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> list[CommentId]:
        """Take those members out of their campaign, for good; return who was taken out now.

        No later comment joins the campaign because of them. If there were any, `act` returns the
        log's entry of so many, kept in the same transaction.
        """

    def rejoin(
        self,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> list[CommentId]:
        """Undo what `leave` did to these sites' comments, logged as it is there; return whose."""

    def page(
        self,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> CampaignPage:
        """Return campaigns of at least `FEWEST_SHOWN` members, most waiting ones first.

        Of equally many the one that grew last comes first. With `waiting_only` others than those
        with waiting members are left out. Raise `InvalidInputError` for a cursor that this store
        did not make.
        """

    def get(self, campaign_id: str, *, site_ids: Sequence[SiteId] | None) -> Campaign:
        """Return a campaign of any size. Raise `NotFoundError` if it has no members there."""

    def members(
        self,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> MemberPage:
        """Return members, the newest first. Raise `InvalidInputError` for a foreign cursor."""

    def waiting_ids(
        self,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        received_until: datetime,
        limit: int,
    ) -> list[CommentId]:
        """Return the members that wait for a moderator and were received by then, newest first."""

    def among(self, campaign_id: str, ids: Sequence[CommentId]) -> set[CommentId]:
        """Return which of these comments are members."""

    def most_waiting(
        self, *, site_ids: Sequence[SiteId] | None, limit: int
    ) -> list[WaitingCampaign]:
        """Return the first campaigns of `page` with `FEWEST_SHOWN` waiting members, cheaply."""

    def peoples_rulings(self, campaign_id: str) -> PeoplesRulings:
        """Return how people ruled on members, at all sites; a policy's decisions do not count."""
