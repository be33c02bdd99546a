"""Stores campaigns in a SQL database."""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from service.campaigns.targets import is_name
from service.campaigns.traits import Traits
from service.domain.campaign import (
    FEWEST_SHOWN,
    LOW_P_SPAM,
    SELLS_P_SPAM,
    Campaign,
    WaitingCampaign,
)
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.page import Page
from service.ports.audit import CountAct
from service.ports.comments import Lease, Placement
from service.stores.cursor import cursor_after, read_cursor
from service.stores.sql.audit_log import insert_entries
from service.stores.sql.base import (
    SiteIds,
    SqlStore,
    chunks,
    execute_in,
    insert_if_free,
    is_older,
    known,
    of_sites,
    rows_in,
    take_lease,
    transaction,
)
from service.stores.sql.cases import load_cases, read_case_page
from service.stores.sql.engine import reading
from service.stores.sql.rows import Row
from service.stores.sql.tables import (
    campaigns,
    comment_traits,
    comments,
    decisions,
    grouping_lease,
    has_left,
    is_by_person,
    is_fresh,
    is_member,
    is_waiting_member,
    verdicts,
)

_LIST = "campaigns"
_MEMBERS = "members"
# A campaign's targets are read from this many of its newest members.
READ_FOR_TARGETS = 20
BEGINNINGS = 3
_comments, _traits = comments.c, comment_traits.c


class CampaignStore(SqlStore):
    """Stores comments' traits and campaigns. `site_ids` limits the sites; None means all."""

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """Take or renew the lease to group, until `until`; REFUSED if another process holds it."""
        return self.write(lambda tx: take_lease(tx, grouping_lease, holder, now=now, until=until))

    def fresh(self, *, limit: int) -> list[Traits]:
        """Return traits of comments that were not placed yet, judged longest ago first."""
        query = _with_p_spam().where(is_fresh).order_by(_traits.seq).limit(limit)
        return self._list(query, _traits_from)

    def place_before(self, most: int) -> int:
        """Return a position that at most `most` traits follow."""
        return max(0, self._count(sa.select(sa.func.max(_traits.seq))) - most)

    def grouped(self, *, after: int, limit: int) -> Page[Traits, int]:
        """Return traits of comments that were placed and not removed, in order of judging."""
        query = (
            _with_p_spam()
            .where(
                _traits.seq > after,
                _traits.grouped_at.is_not(None),
                _traits.left_campaign_id.is_(None),
            )
            .order_by(_traits.seq)
            .limit(limit)
        )
        rows = self._rows(query)
        return Page(
            items=tuple(_traits_from(row) for row in rows),
            next_cursor=rows[-1].seq if rows else None,
        )

    @transaction
    def place(
        self, tx: sa.Connection, placements: Sequence[Placement], *, at: datetime
    ) -> Mapping[CommentId, str]:
        """Place comments in order; return the campaign that each joined.

        A comment joins the campaign of the comment that it is like, or a new campaign with it. It
        stays single if that comment was deleted or removed from its campaign. A comment that was
        placed before or has no traits is not returned, so one of several concurrent calls places
        it.
        """
        joined = ((one.comment_id, _place(tx, one, at)) for one in placements)
        return {comment_id: campaign_id for comment_id, campaign_id in joined if campaign_id}

    @transaction
    def leave(
        self,
        tx: sa.Connection,
        campaign_id: str,
        ids: Sequence[CommentId],
        *,
        act: CountAct | None = None,
    ) -> list[CommentId]:
        """Remove members from their campaign; return those that were removed now.

        Later comments do not join the campaign because of them. If there were any, the result of
        `act` is logged.
        """
        left: list[CommentId] = []
        for some in chunks(sorted(set(ids))):
            members = sa.and_(comments.c.id.in_(some), comments.c.campaign_id == campaign_id)
            left += _move(tx, members, to=None)
        _mark_left(tx, left, campaign_id)
        insert_entries(tx, act(len(left)) if act and left else None)
        return left

    @transaction
    def rejoin(
        self, tx: sa.Connection, campaign_id: str, *, site_ids: SiteIds, act: CountAct | None = None
    ) -> list[CommentId]:
        """Undo `leave` for comments of these sites; return those that rejoined."""
        left = sa.select(_traits.comment_id).where(
            _traits.left_campaign_id == campaign_id, has_left
        )
        members = sa.and_(
            comments.c.id.in_(left), comments.c.campaign_id.is_(None), *of_sites(site_ids)
        )
        back = _move(tx, members, to=campaign_id)
        _mark_left(tx, back, None)
        insert_entries(tx, act(len(back)) if act and back else None)
        return back

    def page(
        self, *, site_ids: SiteIds, waiting_only: bool, cursor: str | None, limit: int
    ) -> Page[Campaign, str]:
        """Return campaigns with at least `FEWEST_SHOWN` members, most waiting members first.

        Ties are sorted by the newest member. Raise `InvalidInputError` for an invalid cursor.
        """
        waiting = _count_waiting(site_ids).subquery()
        counted = sa.func.coalesce(waiting.c.waiting, 0)
        joined = campaigns.join(
            waiting, waiting.c.campaign_id == campaigns.c.id, isouter=not waiting_only
        )
        # Counts no more members than needed.
        enough = (
            sa.select(sa.literal(1))
            .select_from(comments)
            .where(_comments.campaign_id == campaigns.c.id, is_member, *of_sites(site_ids))
            .limit(1)
            .offset(FEWEST_SHOWN - 1)
        )
        query = (
            sa.select(campaigns.c.id, campaigns.c.last_seen_at.label("at"), counted.label("rank"))
            .select_from(joined)
            .where(sa.exists(enough.correlate(campaigns)))
            .order_by(counted.desc(), campaigns.c.last_seen_at.desc(), campaigns.c.id)
            .limit(limit + 1)
        )
        if cursor is not None:
            place = read_cursor(cursor, _LIST, most=2**62)
            seen_at = sa.literal(place.at, campaigns.c.last_seen_at.type)
            later = sa.or_(
                campaigns.c.last_seen_at < seen_at,
                sa.and_(campaigns.c.last_seen_at == seen_at, campaigns.c.id > place.id),
            )
            query = query.where(sa.or_(counted < place.rank, sa.and_(counted == place.rank, later)))
        with reading(self._engine) as tx:
            rows = tx.execute(query).all()
            shown = _describe(tx, [row.id for row in rows[:limit]], site_ids)
        return Page(items=shown, next_cursor=cursor_after(_LIST, rows, limit))

    def most_waiting(self, *, site_ids: SiteIds, limit: int) -> list[WaitingCampaign]:
        """Return the first campaigns of `page` with `FEWEST_SHOWN` waiting members, cheaply."""
        waiting = _count_waiting(site_ids).having(sa.func.count() >= FEWEST_SHOWN).subquery()
        query = (
            sa.select(campaigns.c.id, waiting.c.waiting)
            .join(waiting, waiting.c.campaign_id == campaigns.c.id)
            .order_by(waiting.c.waiting.desc(), campaigns.c.last_seen_at.desc(), campaigns.c.id)
            .limit(limit)
        )
        with reading(self._engine) as tx:
            rows = tx.execute(query).all()
            targets = _newest_targets(tx, [row.id for row in rows], site_ids)
        return [
            WaitingCampaign(id=row.id, waiting=row.waiting, targets=targets[row.id]) for row in rows
        ]

    def get(self, campaign_id: str, *, site_ids: SiteIds) -> Campaign:
        """Return a campaign of any size. Raise `NotFoundError` if it has no members there."""
        with reading(self._engine) as tx:
            found = _describe(tx, [campaign_id], site_ids)
        return known(found[0] if found else None, "campaign", campaign_id)

    def members(
        self,
        campaign_id: str,
        *,
        site_ids: SiteIds,
        waiting_only: bool,
        cursor: str | None,
        limit: int,
    ) -> Page[Case, str]:
        """Return members, newest first. Raise `InvalidInputError` for an invalid cursor."""
        query = _newest_members(campaign_id, site_ids, waiting_only=waiting_only)
        if cursor is not None:
            place = read_cursor(cursor, _MEMBERS)
            query = query.where(is_older(_comments.received_at, _comments.id, place))
        with reading(self._engine) as tx:
            return read_case_page(tx, query, _MEMBERS, limit)

    def waiting_ids(
        self, campaign_id: str, *, site_ids: SiteIds, received_until: datetime, limit: int
    ) -> list[CommentId]:
        """Return waiting members received until `received_until`, newest first."""
        query = _newest_members(campaign_id, site_ids, waiting_only=True)
        query = query.where(_comments.received_at <= received_until).limit(limit)
        return self._list(query, lambda row: row.id)

    def among(self, campaign_id: str, ids: Sequence[CommentId]) -> set[CommentId]:
        query = sa.select(_comments.id).where(_comments.campaign_id == campaign_id)
        with reading(self._engine) as tx:
            return {row.id for row in rows_in(tx, query, _comments.id, ids)}

    def peoples_rulings(self, campaign_id: str) -> Counter[Ruling]:
        """Return people's rulings on members, at all sites; policies' decisions are excluded."""
        query = (
            sa.select(decisions.c.ruling, sa.func.count())
            .join(comments, _comments.id == decisions.c.comment_id)
            .where(
                _comments.campaign_id == campaign_id, decisions.c.undone_at.is_(None), is_by_person
            )
            .group_by(decisions.c.ruling)
        )
        return Counter({Ruling(ruling): count for ruling, count in self._rows(query)})


def insert_traits(tx: sa.Connection, traits: Sequence[Traits]) -> None:
    """Add the traits of comments that are judged in this transaction."""
    rows = [
        {
            "comment_id": one.comment_id,
            "embedding": _pack_embedding(one.embedding),
            "space": one.space,
            "targets": sorted(one.targets),
            "copies": list(one.copies),
        }
        for one in traits
    ]
    for some in chunks(rows):
        tx.execute(insert_if_free(tx, comment_traits), some)


def delete_traits(tx: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Delete comments' traits; campaigns do not change."""
    execute_in(tx, sa.delete(comment_traits), _traits.comment_id, ids)


def _mark_left(tx: sa.Connection, ids: Sequence[CommentId], campaign_id: str | None) -> None:
    statement = sa.update(comment_traits).values(left_campaign_id=campaign_id)
    execute_in(tx, statement, _traits.comment_id, ids)


def _with_p_spam() -> sa.Select[Any]:
    """Return the query for traits with `p_spam`, which is NULL without the classifier."""
    p_spam = sa.case((verdicts.c.model_p_spam.is_not(None), verdicts.c.p_spam)).label("p_spam")
    return sa.select(comment_traits, p_spam).join(
        verdicts, verdicts.c.comment_id == _traits.comment_id
    )


def _traits_from(row: Row) -> Traits:
    return Traits(
        comment_id=row.comment_id,
        embedding=_unpack_embedding(row.embedding),
        space=row.space,
        targets=frozenset(row.targets),
        copies=tuple(row.copies),
        p_spam=row.p_spam,
    )


def _place(tx: sa.Connection, one: Placement, at: datetime) -> str | None:
    """Place a comment; return its campaign, None if it stays single or was placed before."""
    claim = (
        sa.update(comment_traits)
        .where(_traits.comment_id == one.comment_id, is_fresh)
        .values(grouped_at=at)
    )
    if tx.execute(claim).rowcount == 0 or one.like is None:
        return None
    query = (
        sa.select(comments.c.campaign_id, comments.c.received_at, _traits.left_campaign_id)
        .join(comment_traits, _traits.comment_id == comments.c.id)
        .where(comments.c.id == one.like)
        # A concurrent call waits here and then finds the new campaign.
        .with_for_update(of=comments, key_share=True)
    )
    like = tx.execute(query).one_or_none()
    if like is None or like.left_campaign_id is not None:
        return None
    campaign_id: str = like.campaign_id or one.new_campaign_id
    if like.campaign_id is None:
        founded = {"id": campaign_id, "created_at": at, "last_seen_at": like.received_at}
        tx.execute(sa.insert(campaigns), [founded])
        _join(tx, one.like, campaign_id)
    return campaign_id if _join(tx, one.comment_id, campaign_id) else None


def _join(tx: sa.Connection, comment_id: CommentId, campaign_id: str) -> bool:
    """Add a member; return False if it is a member of any campaign already."""
    joined = (
        sa.update(comments)
        .where(comments.c.id == comment_id, comments.c.campaign_id.is_(None))
        .values(campaign_id=campaign_id)
        .returning(comments.c.received_at)
    )
    row = tx.execute(joined).one_or_none()
    if row is None:
        return False
    tx.execute(
        sa.update(campaigns)
        .where(campaigns.c.id == campaign_id, campaigns.c.last_seen_at < row.received_at)
        .values(last_seen_at=row.received_at)
    )
    return True


def _move(tx: sa.Connection, members: sa.ColumnElement[bool], *, to: str | None) -> list[CommentId]:
    statement = sa.update(comments).where(members).values(campaign_id=to).returning(comments.c.id)
    return sorted(tx.scalars(statement))


# Without NumPy, which the image for web processes does not include.
def _pack_embedding(embedding: Sequence[float] | None) -> bytes | None:
    """Return the vector as signed bytes; the mean cosine with the unpacked vector is 0.99998."""
    if embedding is None:
        return None
    scale = 127 / (max(map(abs, embedding), default=0.0) or 1.0)
    return array("b", (round(number * scale) for number in embedding)).tobytes()


def _unpack_embedding(packed: bytes | None) -> tuple[float, ...] | None:
    if packed is None:
        return None
    vector = array("b", packed)
    length = math.hypot(*vector) or 1.0
    return tuple(number / length for number in vector)


def _newest_members(campaign_id: str, site_ids: SiteIds, *, waiting_only: bool) -> sa.Select[Any]:
    kind = is_waiting_member if waiting_only else is_member
    return (
        sa.select(_comments.id, _comments.campaign_id, _comments.received_at.label("at"))
        .where(_comments.campaign_id == campaign_id, kind, *of_sites(site_ids))
        .order_by(_comments.received_at.desc(), _comments.id.desc())
    )


def _count_waiting(site_ids: SiteIds) -> sa.Select[Any]:
    return (
        sa.select(_comments.campaign_id, sa.func.count().label("waiting"))
        .select_from(comments)
        .where(is_waiting_member, *of_sites(site_ids))
        .group_by(_comments.campaign_id)
    )


def _describe(tx: sa.Connection, ids: Sequence[str], site_ids: SiteIds) -> tuple[Campaign, ...]:
    """Return campaigns, in order, without those that have no members at these sites."""
    if not ids:
        return ()
    by_site: defaultdict[str, list[Row]] = defaultdict(list)
    counts: Counter[tuple[str, str]] = Counter()
    for row in tx.execute(_counts(ids, site_ids)):
        if row.counted == _OF_SITE:
            by_site[row.campaign_id].append(row)
        else:
            counts[row.campaign_id, row.counted] = row.n
    found = [campaign_id for campaign_id in ids if campaign_id in by_site]
    targets = _newest_targets(tx, found, site_ids)
    beginnings = _first_members(tx, found, site_ids)
    return tuple(
        Campaign(
            id=campaign_id,
            members=sum(row.n for row in by_site[campaign_id]),
            waiting=counts[campaign_id, _WAITING],
            low=counts[campaign_id, _LOW],
            approved=counts[campaign_id, Ruling.APPROVE],
            rejected=counts[campaign_id, Ruling.REJECT],
            left=counts[campaign_id, _LEFT],
            site_ids=tuple(sorted(row.site_id for row in by_site[campaign_id])),
            posts=sum(row.posts for row in by_site[campaign_id]),
            targets=targets[campaign_id],
            first_seen_at=min(row.first_seen_at for row in by_site[campaign_id]),
            last_seen_at=max(row.last_seen_at for row in by_site[campaign_id]),
            beginnings=beginnings[campaign_id],
        )
        for campaign_id in found
    )


# Kinds of rows in `_counts`, besides rulings.
_OF_SITE, _WAITING, _LOW, _LEFT = "of a site", "waiting", "low", "left"


def _counts(ids: Sequence[str], site_ids: SiteIds) -> sa.CompoundSelect[Any]:
    number = sa.func.count().label("n")
    # One row per site, from an index alone.
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
    tx: sa.Connection, campaign_ids: Sequence[str], site_ids: SiteIds
) -> dict[str, tuple[str, ...]]:
    """Return the four most common targets of each campaign's newest members."""
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
    for row in tx.execute(query):
        found[row.campaign_id] += row.targets
    common = {}
    for campaign_id in campaign_ids:
        counts = Counter(found[campaign_id])
        ordered = sorted(counts, key=lambda target: (-counts[target], target))
        # At most one guessed product name, because such names are many and similar.
        names = [target for target in ordered if is_name(target)]
        common[campaign_id] = tuple(one for one in ordered if one not in names[1:])[:4]
    return common


def _first_members(
    tx: sa.Connection, campaign_ids: Sequence[str], site_ids: SiteIds
) -> dict[str, tuple[Case, ...]]:
    """Return each campaign's newest members, waiting ones first."""
    if not campaign_ids:
        return {}
    arms = [
        arm
        for waiting_only in (True, False)
        for arm in _newest_each(campaign_ids, site_ids, waiting_only=waiting_only, limit=BEGINNINGS)
    ]
    best_first = attrgetter("asked_to_wait", "at", "id")
    chosen: defaultdict[str, list[CommentId]] = defaultdict(list)
    for row in sorted(tx.execute(sa.union_all(*arms)), key=best_first, reverse=True):
        if row.id not in chosen[row.campaign_id]:
            chosen[row.campaign_id].append(row.id)
    first = {key: ids[:BEGINNINGS] for key, ids in chosen.items()}
    wanted = [comment_id for ids in first.values() for comment_id in ids]
    cases = {case.comment.id: case for case in load_cases(tx, wanted)}
    return {key: tuple(cases[one] for one in ids) for key, ids in first.items()}


def _newest_each(
    campaign_ids: Sequence[str], site_ids: SiteIds, *, waiting_only: bool, limit: int
) -> list[sa.Select[Any]]:
    """Return a query per campaign for its newest members, in no order.

    Each reads `limit` entries of an index; a window function would read all.
    """
    arms = [
        _newest_members(campaign_id, site_ids, waiting_only=waiting_only).limit(limit).subquery()
        for campaign_id in campaign_ids
    ]
    asked = sa.literal(waiting_only).label("asked_to_wait")
    return [sa.select(*arm.c, asked) for arm in arms]
