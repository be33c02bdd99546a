"""Comments of one origin, told by their words, their target or their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.decision import EDIT_POLICY, Decision

CAMPAIGN_POLICY = "campaign policy"
"""In whose name a site's policy rejects members of a campaign; no account may be called so."""

FEWEST_SHOWN = 3
"""How many members a campaign needs to be shown; two are often one person who sent twice."""

SELLS_P_SPAM = 0.5
"""From where up a member says what its campaign sells, and draws others in."""

LOW_P_SPAM = 0.2
"""Below it a member is decided only by who ticks it: nothing in bulk, no policy takes it along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A campaign at some sites: every number counts members of these alone.

    `low` members wait and are below `LOW_P_SPAM`; `left` ones were taken out by a moderator.
    `posts` counts the different addresses of posts. `targets` are what its newest members
    advertise, the most common first. `beginnings` are its newest members, waiting ones first.
    """

    id: str
    members: int
    waiting: int
    low: int
    approved: int
    rejected: int
    left: int
    site_ids: tuple[SiteId, ...]
    posts: int
    targets: tuple[str, ...]
    first_seen_at: datetime
    last_seen_at: datetime
    beginnings: tuple[Case, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignPage:
    """One page of campaigns; `next_cursor` is opaque and None on the last page."""

    campaigns: tuple[Campaign, ...]
    next_cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCampaign:
    """What of a campaign is worth a line above the queue; numbers as in `Campaign`."""

    id: str
    waiting: int
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplesRulings:
    """How many members of a campaign people approved and rejected, at all sites."""

    approved: int
    rejected: int


def is_by_person(decision: Decision) -> bool:
    """Return True if a person decided, and no policy: only people teach."""
    by = decision.decided_by
    return by != CAMPAIGN_POLICY and not by.startswith(EDIT_POLICY)


def is_low(case: Case) -> bool:
    """Return True if a judged comment's probability is below `LOW_P_SPAM`."""
    return case.verdict is not None and case.verdict.p_spam < LOW_P_SPAM
