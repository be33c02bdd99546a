"""Keeps campaigns in a SQL database, and places comments in them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.campaigns.traits import Traits
from service.domain.comment import CommentId, SiteId
from service.ports.audit import AuditEntry
from service.ports.campaigns import Lease, Placement, TraitsPage
from service.stores.sql.audit_log import insert_entry
from service.stores.sql.base.engine import reading
from service.stores.sql.base.rows import Row
from service.stores.sql.base.statements import chunks, execute_in, insert_if_free, take_lease
from service.stores.sql.base.store import transaction
from service.stores.sql.campaign_lists import CampaignLists, of_sites
from service.stores.sql.schema.tables import (
    campaigns,
    comment_traits,
    comments,
    grouping_lease,
    has_left,
    is_fresh,
    verdicts,
)

_traits = comment_traits.c
_MOST_OF_A_BYTE = 127


class CampaignStore(CampaignLists):
    """Keeps by what comments are recognised, and which of them belong to one campaign."""

    def take_lease(self, holder: str, *, now: datetime, until: datetime) -> Lease:
        """Let `holder` alone group comments till `until`, unless it is somebody else's turn now.

        Of several calls at once at most one is not REFUSED.
        """
        return self.write(lambda tx: take_lease(tx, grouping_lease, holder, now=now, until=until))

    def fresh(self, *, limit: int) -> list[Traits]:
        """Return traits of comments that were never placed, the longest judged first."""
        query = _with_p_spam().where(is_fresh).order_by(_traits.seq).limit(limit)
        return self._list(query, _traits_from)

    def place_before(self, most: int) -> int:
        """Return a place after which at most `most` traits follow."""
        with reading(self._engine) as connection:
            newest = connection.scalar(sa.select(sa.func.max(_traits.seq))) or 0
        return max(0, newest - most)

    def grouped(self, *, after: int, limit: int) -> TraitsPage:
        """Return traits of placed comments in the order they were judged in.

        Comments that a moderator took out of their campaign are left out.
        """
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
        with reading(self._engine) as connection:
            rows = connection.execute(query).all()
        return TraitsPage(
            traits=tuple(_traits_from(row) for row in rows),
            next_after=rows[-1].seq if rows else None,
        )

    @transaction
    def place(
        self, tx: sa.Connection, placements: Sequence[Placement], *, at: datetime
    ) -> Mapping[CommentId, str]:
        """Place comments in order, in one transaction; return who joined a campaign, and which.

        A comment joins the campaign of the one that it is like, or founds one with it. It stays
        single if that one is gone or was taken out of its campaign. A comment that was placed
        before, or has no traits any more, is left as it is and not returned: so of several
        calls at once one places it.
        """
        joined = {}
        for one in placements:
            campaign_id = _place(tx, one, at)
            if campaign_id is not None:
                joined[one.comment_id] = campaign_id
        return joined

    @transaction
    def leave(
        self,
        tx: sa.Connection,
        campaign_id: str,
        ids: Sequence[CommentId],
        *,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> list[CommentId]:
        """Take those members out of their campaign, for good; return who was taken out now.

        No later comment joins the campaign because of them. If there were any, `act` returns the
        log's entry of so many, kept in the same transaction.
        """
        wanted = sorted(set(ids))
        left: list[CommentId] = []
        for some in chunks(wanted):
            members = sa.and_(comments.c.id.in_(some), comments.c.campaign_id == campaign_id)
            left += _move(tx, members, to=None)
        _mark_left(tx, left, campaign_id)
        insert_entry(tx, act(len(left)) if act and left else None)
        return left

    @transaction
    def rejoin(
        self,
        tx: sa.Connection,
        campaign_id: str,
        *,
        site_ids: Sequence[SiteId] | None,
        act: Callable[[int], AuditEntry] | None = None,
    ) -> list[CommentId]:
        """Undo what `leave` did to these sites' comments, logged as it is there; return whose."""
        left = sa.select(_traits.comment_id).where(
            _traits.left_campaign_id == campaign_id, has_left
        )
        members = sa.and_(
            comments.c.id.in_(left), comments.c.campaign_id.is_(None), *of_sites(site_ids)
        )
        back = _move(tx, members, to=campaign_id)
        _mark_left(tx, back, None)
        insert_entry(tx, act(len(back)) if act and back else None)
        return back


def insert_traits(connection: sa.Connection, traits: Sequence[Traits]) -> None:
    """Keep the traits of comments that were judged in this transaction."""
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
        connection.execute(insert_if_free(connection, comment_traits), some)


def delete_traits(connection: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Forget by what these comments could be recognised; their campaigns stay as they are."""
    execute_in(connection, sa.delete(comment_traits), _traits.comment_id, ids)


def _mark_left(
    connection: sa.Connection, ids: Sequence[CommentId], campaign_id: str | None
) -> None:
    statement = sa.update(comment_traits).values(left_campaign_id=campaign_id)
    execute_in(connection, statement, _traits.comment_id, ids)


def _with_p_spam() -> sa.Select[Any]:
    """Return the query for traits with the probability, none where the classifier was away."""
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


def _place(connection: sa.Connection, one: Placement, at: datetime) -> str | None:
    """Place one comment and return its campaign, None if it stays single or was placed before."""
    claim = (
        sa.update(comment_traits)
        .where(_traits.comment_id == one.comment_id, is_fresh)
        .values(grouped_at=at)
    )
    if connection.execute(claim).rowcount == 0 or one.like is None:
        return None
    campaign_id = _campaign_of(connection, one.like, one.new_campaign_id, at)
    if campaign_id is None or not _join(connection, one.comment_id, campaign_id):
        return None
    return campaign_id


def _campaign_of(
    connection: sa.Connection, like: CommentId, new_campaign_id: str, at: datetime
) -> str | None:
    """Return the campaign that a comment draws others into, a new one if it is single."""
    query = (
        sa.select(comments.c.campaign_id, comments.c.received_at, _traits.left_campaign_id)
        .join(comment_traits, _traits.comment_id == comments.c.id)
        .where(comments.c.id == like)
        # Who comes second waits here and finds the campaign that the first one founded.
        .with_for_update(of=comments, key_share=True)
    )
    row = connection.execute(query).one_or_none()
    if row is None or row.left_campaign_id is not None:
        return None
    if row.campaign_id is not None:
        found: str = row.campaign_id
        return found
    founded = {"id": new_campaign_id, "created_at": at, "last_seen_at": row.received_at}
    connection.execute(sa.insert(campaigns), [founded])
    _join(connection, like, new_campaign_id)
    return new_campaign_id


def _join(connection: sa.Connection, comment_id: CommentId, campaign_id: str) -> bool:
    """Make a comment a member unless it is one already, of whichever campaign."""
    joined = (
        sa.update(comments)
        .where(comments.c.id == comment_id, comments.c.campaign_id.is_(None))
        .values(campaign_id=campaign_id)
        .returning(comments.c.received_at)
    )
    row = connection.execute(joined).one_or_none()
    if row is None:
        return False
    connection.execute(
        sa.update(campaigns)
        .where(campaigns.c.id == campaign_id, campaigns.c.last_seen_at < row.received_at)
        .values(last_seen_at=row.received_at)
    )
    return True


def _move(
    connection: sa.Connection, members: sa.ColumnElement[bool], *, to: str | None
) -> list[CommentId]:
    statement = sa.update(comments).where(members).values(campaign_id=to).returning(comments.c.id)
    return sorted(connection.scalars(statement))


# Without NumPy, which the web processes' image leaves out.
def _pack_embedding(embedding: Sequence[float] | None) -> bytes | None:
    """Return the vector as signed bytes, scaled so that its largest number fills one.

    2026-11-21, 10,000 random directions in 64 dimensions: the cosine between a vector and what
    comes back is 0.99998 on average.
    """
    if embedding is None:
        return None
    scale = _MOST_OF_A_BYTE / (max(map(abs, embedding), default=0.0) or 1.0)
    return array("b", (round(number * scale) for number in embedding)).tobytes()


def _unpack_embedding(packed: bytes | None) -> tuple[float, ...] | None:
    """Return the vector, of unit length again."""
    if packed is None:
        return None
    vector = array("b", packed)
    length = math.hypot(*vector) or 1.0
    return tuple(number / length for number in vector)
