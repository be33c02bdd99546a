"""Campaigns: comments of one origin, recognised by their words, target or meaning."""

from dataclasses import dataclass
from datetime import datetime

from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.decision import EDIT_POLICY, Decision

CAMPAIGN_POLICY = "campaign policy"
"""The actor of a campaign policy's rejections; no account may have this name."""

FEWEST_SHOWN = 3
"""The fewest members of a shown campaign; two are often one person who sent twice."""

SELLS_P_SPAM = 0.5
"""The p_spam from which a member shows what its campaign sells, and attracts others."""

LOW_P_SPAM = 0.2
"""Members below this p_spam are decided only if a moderator ticks them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """A campaign at some sites; every number counts only members of these.

    `low` members wait and are below `LOW_P_SPAM`; a moderator took `left` ones out. `posts` counts
    the different URLs of posts. `targets` are what its newest members advertise, the most common
    first. `beginnings` are its newest members, waiting ones first.
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
class WaitingCampaign:
    """The part of a campaign that is shown above the queue; numbers as in `Campaign`."""

    id: str
    waiting: int
    targets: tuple[str, ...]


def is_by_person(decision: Decision) -> bool:
    """Return True if a person decided, not a policy. Only people's decisions are learnt."""
    by = decision.decided_by
    return by != CAMPAIGN_POLICY and not by.startswith(EDIT_POLICY)


def is_low(case: Case) -> bool:
    return case.verdict is not None and case.verdict.p_spam < LOW_P_SPAM
