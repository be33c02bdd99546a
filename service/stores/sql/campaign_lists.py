"""Reads lists of campaigns and of their members from a SQL database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.campaigns.targets import is_name
from service.domain.campaign import (
    FEWEST_SHOWN,
    LOW_P_SPAM,
    SELLS_P_SPAM,
    Campaign,
    CampaignPage,
    PeoplesRulings,
    WaitingCampaign,
)
from service.domain.case import Case, CasePage
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.stores.cursor import Place, read_cursor, write_cursor
from service.stores.sql.base.engine import reading
from service.stores.sql.base.rows import Row
from service.stores.sql.base.statements import is_older, known, rows_in
from service.stores.sql.base.store import SqlStore
from service.stores.sql.cases import load_cases
from service.stores.sql.schema.tables import (
    campaigns,
    comment_traits,
    comments,
    decisions,
    has_left,
    is_by_person,
    is_member,
    is_waiting_member,
)

_LIST = "campaigns"
_MEMBERS = "members"
_MOST_WAITING = 2**62
# Of how many of its newest members a campaign's targets are read.
READ_FOR_TARGETS = 20
_TARGETS_NAMED = 4
BEGINNINGS = 3
_comments = comments.c


def of_sites(site_ids: Sequence[SiteId] | None) -> list[sa.ColumnElement[bool]]:
    """Return what a comment's row must satisfy to be of one of these sites."""
    return [] if site_ids is None else [_comments.site_id.in_(site_ids)]


class CampaignLists(SqlStore):
    """Reads campaigns and their members.

    Where `site_ids` is given, nothing is told of other sites; None means all sites.
    """

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
        waiting = _count_waiting(site_ids).subquery()
        counted = sa.func.coalesce(waiting.c.waiting, 0)
        joined = campaigns.join(
            waiting, waiting.c.campaign_id == campaigns.c.id, isouter=not waiting_only
        )
        query = (
            sa.select(campaigns.c.id, campaigns.c.last_seen_at, counted.label("waiting"))
            .select_from(joined)
            .where(_is_large_enough(site_ids))
            .order_by(counted.desc(), campaigns.c.last_seen_at.desc(), campaigns.c.id)
            .limit(limit + 1)
        )
        if cursor is not None:
            query = query.where(_later(read_cursor(cursor, _LIST, most=_MOST_WAITING), counted))
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
            shown = _describe(connection, [row.id for row in rows[:limit]], site_ids)
        if len(rows) <= limit:
            return CampaignPage(campaigns=shown)
        last = rows[limit - 1]
        place = Place(rank=last.waiting, at=last.last_seen_at, id=last.id)
        return CampaignPage(campaigns=shown, next_cursor=write_cursor(_LIST, place))

    def most_waiting(
        self, *, site_ids: Sequence[SiteId] | None, limit: int
    ) -> list[WaitingCampaign]:
        """Return the first campaigns of `page` with `FEWEST_SHOWN` waiting members, cheaply."""
        waiting = _count_waiting(site_ids).having(sa.func.count() >= FEWEST_SHOWN).subquery()
        query = (
            sa.select(campaigns.c.id, waiting.c.waiting)
            .join(waiting, waiting.c.campaign_id == campaigns.c.id)
            .order_by(waiting.c.waiting.desc(), campaigns.c.last_seen_at.desc(), campaigns.c.id)
            .limit(limit)
        )
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
            targets = _newest_targets(connection, [row.id for row in rows], site_ids)
        return [
            WaitingCampaign(id=row.id, waiting=row.waiting, targets=targets[row.id]) for row in rows
        ]

    def get(self, campaign_id: str, *, site_ids: Sequence[SiteId] | None) -> Campaign:
        """Return a campaign of any size. Raise `NotFoundError` if it has no members there."""
        with reading(self._engine) as connection:
            found = _describe(connection, [campaign_id], site_ids)
        return known(found[0] if found else None, "campaign", campaign_id)

    def members(
        self,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> CasePage:
        """Return members, the newest first. Raise `InvalidInputError` for a foreign cursor."""
        query = _newest_members(campaign_id, site_ids, waiting_only=waiting_only).limit(limit + 1)
        if cursor is not None:
            place = read_cursor(cursor, _MEMBERS)
            query = query.where(is_older(_comments.received_at, _comments.id, place))
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
            cases = tuple(load_cases(connection, [row.id for row in rows[:limit]]))
        if len(rows) <= limit:
            return CasePage(cases=cases)
        last = Place(at=rows[limit - 1].received_at, id=rows[limit - 1].id)
        return CasePage(cases=cases, next_cursor=write_cursor(_MEMBERS, last))

    def waiting_ids(
        self,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        received_until: datetime,
        limit: int,
    ) -> list[CommentId]:
        """Return the members that wait for a moderator and were received by then, newest first."""
        query = _newest_members(campaign_id, site_ids, waiting_only=True)
        query = query.where(_comments.received_at <= received_until).limit(limit)
        return self._list(query, lambda row: row.id)

    def among(self, campaign_id: str, ids: Sequence[CommentId]) -> set[CommentId]:
        """Return which of these comments are members."""
        query = sa.select(_comments.id).where(_comments.campaign_id == campaign_id)
        with reading(self._engine) as connection:
            return {row.id for row in rows_in(connection, query, _comments.id, ids)}

    def peoples_rulings(self, campaign_id: str) -> PeoplesRulings:
        """Return how people ruled on members, at all sites; a policy's decisions do not count."""
        query = (
            sa.select(decisions.c.ruling, sa.func.count())
            .join(comments, _comments.id == decisions.c.comment_id)
            .where(
                _comments.campaign_id == campaign_id,
                decisions.c.undone_at.is_(None),
                is_by_person,
            )
            .group_by(decisions.c.ruling)
        )
        with reading(self._engine) as connection:
            counts = {Ruling(ruling): count for ruling, count in connection.execute(query)}
        return PeoplesRulings(
            approved=counts.get(Ruling.APPROVE, 0), rejected=counts.get(Ruling.REJECT, 0)
        )


def _newest_members(
    campaign_id: str, site_ids: Sequence[SiteId] | None, *, waiting_only: bool
) -> sa.Select[Any]:
    """Return the query for members, the newest first."""
    kind = is_waiting_member if waiting_only else is_member
    return (
        sa.select(_comments.id, _comments.campaign_id, _comments.received_at)
        .where(_comments.campaign_id == campaign_id, kind, *of_sites(site_ids))
        .order_by(_comments.received_at.desc(), _comments.id.desc())
    )


def _count_waiting(site_ids: Sequence[SiteId] | None) -> sa.Select[Any]:
    return (
        sa.select(_comments.campaign_id, sa.func.count().label("waiting"))
        .select_from(comments)
        .where(is_waiting_member, *of_sites(site_ids))
        .group_by(_comments.campaign_id)
    )


def _is_large_enough(site_ids: Sequence[SiteId] | None) -> sa.ColumnElement[bool]:
    """Return the condition for enough members; it looks at no more of them than that."""
    query = (
        sa.select(sa.literal(1))
        .select_from(comments)
        .where(_comments.campaign_id == campaigns.c.id, is_member, *of_sites(site_ids))
    )
    return sa.exists(query.limit(1).offset(FEWEST_SHOWN - 1).correlate(campaigns))


def _later(place: Place, counted: sa.ColumnElement[int]) -> sa.ColumnElement[bool]:
    at = sa.literal(place.at, campaigns.c.last_seen_at.type)
    same_moment = sa.and_(campaigns.c.last_seen_at == at, campaigns.c.id > place.id)
    return sa.or_(
        counted < place.rank,
        sa.and_(counted == place.rank, sa.or_(campaigns.c.last_seen_at < at, same_moment)),
    )


def _describe(
    connection: sa.Connection, ids: Sequence[str], site_ids: Sequence[SiteId] | None
) -> tuple[Campaign, ...]:
    """Return these campaigns in order, without those that have no members at these sites."""
    if not ids:
        return ()
    by_site: defaultdict[str, list[Row]] = defaultdict(list)
    waiting: dict[str, int] = {}
    low: dict[str, int] = {}
    left: dict[str, int] = {}
    rulings: dict[tuple[str, Ruling], int] = {}
    for row in connection.execute(_counts(ids, site_ids)):
        if row.counted == _OF_SITE:
            by_site[row.campaign_id].append(row)
        elif row.counted == _WAITING:
            waiting[row.campaign_id] = row.n
        elif row.counted == _LOW:
            low[row.campaign_id] = row.n
        elif row.counted == _LEFT:
            left[row.campaign_id] = row.n
        else:
            rulings[row.campaign_id, Ruling(row.counted)] = row.n
    found = [campaign_id for campaign_id in ids if campaign_id in by_site]
    targets = _newest_targets(connection, found, site_ids)
    beginnings = _beginnings(connection, found, site_ids)
    return tuple(
        Campaign(
            id=campaign_id,
            members=sum(row.n for row in by_site[campaign_id]),
            waiting=waiting.get(campaign_id, 0),
            low=low.get(campaign_id, 0),
            approved=rulings.get((campaign_id, Ruling.APPROVE), 0),
            rejected=rulings.get((campaign_id, Ruling.REJECT), 0),
            left=left.get(campaign_id, 0),
            site_ids=tuple(sorted(row.site_id for row in by_site[campaign_id])),
            posts=sum(row.posts for row in by_site[campaign_id]),
            targets=targets[campaign_id],
            first_seen_at=min(row.first_seen_at for row in by_site[campaign_id]),
            last_seen_at=max(row.last_seen_at for row in by_site[campaign_id]),
            beginnings=beginnings[campaign_id],
        )
        for campaign_id in found
    )


# What a row of `_counts` counts, unless it is what its ruling says.
_OF_SITE, _WAITING, _LOW, _LEFT = "of a site", "waiting", "low", "left"


def _counts(ids: Sequence[str], site_ids: Sequence[SiteId] | None) -> sa.CompoundSelect[Any]:
    """Return one statement for all numbers of these campaigns, a kind of them an arm."""
    number = sa.func.count().label("n")
    # What can be counted from an index alone, a row a site.
    by_site = (
        sa.select(
            sa.literal(_OF_SITE).label("counted"),
            _comments.campaign_id,
            number,
            _comments.site_id,
            sa.func.count(_comments.post_url.distinct()).label("posts"),
            sa.func.min(_comments.received_at).label("first_seen_at"),
            sa.func.max(_comments.received_at).label("last_seen_at"),
        )
        .select_from(comments)
        .where(_comments.campaign_id.in_(ids), is_member, *of_sites(site_ids))
        .group_by(_comments.campaign_id, _comments.site_id)
    )
    nothing = (sa.null(), sa.null(), sa.null(), sa.null())

    def waiting(counted: str, *wanted: sa.ColumnElement[bool]) -> sa.Select[Any]:
        return (
            sa.select(sa.literal(counted), _comments.campaign_id, number, *nothing)
            .select_from(comments)
            .where(_comments.campaign_id.in_(ids), is_waiting_member, *wanted, *of_sites(site_ids))
            .group_by(_comments.campaign_id)
        )

    ruled = (
        sa.select(decisions.c.ruling, _comments.campaign_id, number, *nothing)
        .select_from(comments.join(decisions, decisions.c.comment_id == _comments.id))
        .where(
            _comments.campaign_id.in_(ids),
            is_member,
            decisions.c.undone_at.is_(None),
            *of_sites(site_ids),
        )
        .group_by(_comments.campaign_id, decisions.c.ruling)
    )
    left = (
        sa.select(sa.literal(_LEFT), comment_traits.c.left_campaign_id, number, *nothing)
        .select_from(comment_traits.join(comments, _comments.id == comment_traits.c.comment_id))
        .where(comment_traits.c.left_campaign_id.in_(ids), has_left, *of_sites(site_ids))
        .group_by(comment_traits.c.left_campaign_id)
    )
    low = waiting(_LOW, _comments.p_spam < LOW_P_SPAM)
    return sa.union_all(by_site, waiting(_WAITING), low, ruled, left)


def _newest_targets(
    connection: sa.Connection,
    campaign_ids: Sequence[str],
    site_ids: Sequence[SiteId] | None,
) -> dict[str, tuple[str, ...]]:
    """Return what each campaign's newest members advertise, the most common first."""
    if not campaign_ids:
        return {}
    arms = _newest_each(campaign_ids, site_ids, waiting_only=False, limit=READ_FOR_TARGETS)
    newest = sa.union_all(*arms).subquery()
    query = (
        sa.select(newest.c.campaign_id, comment_traits.c.targets)
        .join(comment_traits, comment_traits.c.comment_id == newest.c.id)
        .join(comments, _comments.id == newest.c.id)
        .where(_comments.p_spam >= SELLS_P_SPAM)
    )
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.campaign_id] += row.targets
    return {one: _most_common(found[one]) for one in campaign_ids}


def _most_common(targets: Iterable[str]) -> tuple[str, ...]:
    """Return a few targets, the most common first, equally common ones by name.

    Of guessed names of what is sold one at most: they are many, and share their letters.
    """
    counts = Counter(targets)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    names = [target for target, _ in ordered if is_name(target)]
    chosen = [target for target, _ in ordered if target not in names[1:]]
    return tuple(chosen[:_TARGETS_NAMED])


def _beginnings(
    connection: sa.Connection,
    campaign_ids: Sequence[str],
    site_ids: Sequence[SiteId] | None,
) -> dict[str, tuple[Case, ...]]:
    """Return each campaign's newest members, those that wait before the others."""
    if not campaign_ids:
        return {}
    arms = [
        arm
        for waiting_only in (True, False)
        for arm in _newest_each(campaign_ids, site_ids, waiting_only=waiting_only, limit=BEGINNINGS)
    ]
    rows = sorted(connection.execute(sa.union_all(*arms)), key=_newness, reverse=True)
    chosen: defaultdict[str, list[CommentId]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: not row.asked_to_wait):
        if row.id not in chosen[row.campaign_id]:
            chosen[row.campaign_id].append(row.id)
    first = {key: ids[:BEGINNINGS] for key, ids in chosen.items()}
    wanted = [comment_id for ids in first.values() for comment_id in ids]
    cases = {case.comment.id: case for case in load_cases(connection, wanted)}
    return {key: tuple(cases[one] for one in ids) for key, ids in first.items()}


def _newest_each(
    campaign_ids: Sequence[str],
    site_ids: Sequence[SiteId] | None,
    *,
    waiting_only: bool,
    limit: int,
) -> list[sa.Select[Any]]:
    """Return for each campaign the query for so many newest members, in no order.

    One arm a campaign reads so many entries of an index each; a window function would read all.
    """
    arms = [
        _newest_members(campaign_id, site_ids, waiting_only=waiting_only).limit(limit).subquery()
        for campaign_id in campaign_ids
    ]
    asked = sa.literal(waiting_only).label("asked_to_wait")
    return [sa.select(*arm.c, asked) for arm in arms]


def _newness(row: Row) -> tuple[datetime, CommentId]:
    return (row.received_at, row.id)
