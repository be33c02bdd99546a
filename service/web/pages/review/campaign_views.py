"""Turns campaigns and their members into what pages show of them: words and numbers, no markup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from flask import url_for

from service.domain.campaign import Campaign, is_low
from service.domain.case import Case
from service.domain.comment import SiteId
from service.domain.decision import Ruling
from service.domain.site import Site
from service.domain.verdict import Outcome, Span, Verdict
from service.web.pages.common.marking import Layer, Piece, part_text
from service.web.pages.common.presenting import Moment, beginning, stands_at, tell_time, title_of
from service.web.pages.common.targets_view import TargetView, present_targets

_EXCERPT_CHARS = 220
# So much of a remark is shown before the advertisement that comes late in it.
_BEFORE_PROMOTION = 70
_NAME_CHARS = 60
_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberView:
    """One member: a segment of its text with the promotion marked, whose, where, and its fate.

    `open` says that nobody has decided it, `low` that it looks sincere. `ruled_by` is empty while
    it is open.
    """

    id: str
    url: str
    excerpt: tuple[Piece, ...]
    author: tuple[Piece, ...]
    post: tuple[Piece, ...]
    site: tuple[Piece, ...]
    received: Moment
    outcome: Outcome | None
    p_spam: str
    open: bool
    waits: bool
    low: bool
    ruling: Ruling | None
    ruled_by: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignView:
    """A campaign as a line of the list, or as the head of its own page."""

    id: str
    url: str
    members: int
    waiting: int
    approved: int
    rejected: int
    left: int
    posts: int
    sites: tuple[tuple[Piece, ...], ...]
    targets: tuple[TargetView, ...]
    first: Moment
    last: Moment
    beginnings: tuple[MemberView, ...]


def present_campaign(
    campaign: Campaign,
    *,
    url: str,
    sites: Mapping[SiteId, Site],
    now: datetime,
) -> CampaignView:
    """Return what a page at `url` shows of a campaign."""
    return CampaignView(
        id=campaign.id,
        url=url,
        members=campaign.members,
        waiting=campaign.waiting,
        approved=campaign.approved,
        rejected=campaign.rejected,
        left=campaign.left,
        posts=campaign.posts,
        sites=tuple(_site(site_id, sites) for site_id in campaign.site_ids),
        targets=present_targets(campaign.targets),
        first=tell_time(campaign.first_seen_at, now),
        last=tell_time(campaign.last_seen_at, now),
        beginnings=tuple(
            present_member(case, sites=sites, now=now) for case in campaign.beginnings
        ),
    )


def present_member(case: Case, *, sites: Mapping[SiteId, Site], now: datetime) -> MemberView:
    """Return what a page shows of one member."""
    comment, verdict, decision = case.comment, case.verdict, case.decision
    return MemberView(
        id=comment.id,
        url=url_for("pages.comment", comment_id=comment.id, show="all"),
        excerpt=excerpt_of(comment.text, verdict),
        author=part_text(beginning(comment.author.name or "", _NAME_CHARS)),
        post=part_text(beginning(title_of(comment.post) or comment.post.url or "", _TITLE_CHARS)),
        site=_site(comment.site_id, sites),
        received=tell_time(comment.received_at, now),
        outcome=verdict.outcome if verdict else None,
        p_spam=stands_at(verdict) if verdict else "",
        open=decision is None,
        waits=case.needs_review,
        low=is_low(case),
        ruling=decision.ruling if decision else None,
        ruled_by=part_text(decision.decided_by) if decision else (),
    )


def excerpt_of(text: str, verdict: Verdict | None) -> tuple[Piece, ...]:
    """Return a segment of the text in which the promotion is seen, marked, if there is one."""
    spans = verdict.promo_spans if verdict else ()
    first = min((span.start for span in spans), default=0)
    late = first > _EXCERPT_CHARS - _BEFORE_PROMOTION
    space = len(text) - len(text.lstrip())
    start = _word_start(text, first - _BEFORE_PROMOTION) if late else space
    end = start + _EXCERPT_CHARS
    shown = [
        Span(start=max(span.start, start) - start, end=min(span.end, end) - start)
        for span in spans
        if span.start < end and span.end > start
    ]
    layers = (Layer(number=1, spans=tuple(shown), promo=True),) if shown else ()
    # The mark says enough: there is no list of evidence here for its number to lead to.
    pieces = [replace(one, ends=()) for one in part_text(text[start:end], layers=layers)]
    if late:
        pieces.insert(0, Piece(text="… "))
    if end < len(text):
        pieces.append(Piece(text="…"))
    return tuple(pieces)


def _word_start(text: str, at: int) -> int:
    """Return where a word begins shortly before `at`, or `at` itself."""
    space = text.rfind(" ", max(at - 20, 0), at)
    return space + 1 if space >= 0 else at


def _site(site_id: SiteId, sites: Mapping[SiteId, Site]) -> tuple[Piece, ...]:
    site = sites.get(site_id)
    return part_text(site.name if site else site_id)
