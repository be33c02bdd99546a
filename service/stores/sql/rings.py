"""Keeps what senders share, and their rings, in a SQL database."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.campaigns.acts import Act
from service.domain.campaign import CAMPAIGN_POLICY, SELLS_P_SPAM
from service.domain.comment import CommentId, SiteId
from service.domain.decision import Ruling
from service.domain.history import Record
from service.domain.ring import KeptAct, RingFacts
from service.ports.rings import NumberedAct, PlacedRing
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.statements import chunks, insert_if_free, upsert
from service.stores.sql.campaign_lists import Groups, of_sites
from service.stores.sql.groups import SqlGroupStore
from service.stores.sql.schema.rings import (
    has_left_ring,
    is_ringed,
    is_waiting_ringed,
    ring_acts,
    rings,
)
from service.stores.sql.schema.tables import comments, decisions

_acts = ring_acts.c
_with_comments = ring_acts.join(comments, comments.c.id == _acts.comment_id)


class SqlRingStore(SqlGroupStore):
    """Keeps acts and rings in a SQL database; see `RingStore`."""

    groups = Groups(
        name="ring",
        heads=rings,
        members=_with_comments,
        group_id=_acts.ring_id,
        is_member=is_ringed,
        is_waiting_member=is_waiting_ringed,
        gone=_with_comments,
        left_id=_acts.left_ring_id,
        has_left=has_left_ring,
    )

    def place_before(self, most: int) -> int:
        """See `RingStore.place_before`."""
        with reading(self._engine) as connection:
            return max(0, _newest(connection) - most)

    def acts(self, *, after: int, limit: int) -> list[NumberedAct]:
        """See `RingStore.acts`."""
        query = (
            sa.select(ring_acts, comments.c.received_at, comments.c.p_spam)
            .select_from(_with_comments)
            .where(_acts.seq > after)
            .order_by(_acts.seq)
            .limit(limit)
        )
        with reading(self._engine) as connection:
            return [
                NumberedAct(
                    place=row.seq,
                    act=Act(
                        comment_id=row.comment_id,
                        who=row.who,
                        at=row.received_at,
                        ties=tuple(row.ties),
                        sells=row.p_spam is not None and row.p_spam >= SELLS_P_SPAM,
                    ),
                )
                for row in connection.execute(query)
            ]

    def ringed(self, who: Collection[str]) -> Mapping[str, str]:
        """See `RingStore.ringed`."""
        with reading(self._engine) as connection:
            return _ringed(connection, who)

    def place(self, rings: Sequence[PlacedRing]) -> int:
        """See `RingStore.place`."""
        return write(self._engine, lambda connection: sum(_place(connection, r) for r in rings))

    def release(self, who: Collection[str]) -> int:
        """See `RingStore.release`."""

        def release(connection: sa.Connection) -> int:
            released = 0
            for some in chunks(sorted(who)):
                theirs = sa.and_(_acts.who.in_(some), is_ringed)
                found = set(connection.scalars(sa.select(_acts.ring_id).where(theirs)))
                open_ids = found - _ruled(connection, found)
                released += connection.execute(
                    sa.update(ring_acts)
                    .where(theirs, _acts.ring_id.in_(open_ids))
                    .values(ring_id=None)
                ).rowcount
            return released

        return write(self._engine, release) if who else 0

    def leave(self, group_id: str, ids: Sequence[CommentId]) -> list[CommentId]:
        """See `GroupStore.leave`."""

        def leave(connection: sa.Connection) -> list[CommentId]:
            left: list[CommentId] = []
            for some in chunks(sorted(set(ids))):
                members = sa.and_(_acts.comment_id.in_(some), _acts.ring_id == group_id)
                left += _move(connection, members, ring_id=None, left_ring_id=group_id)
            return sorted(left)

        return write(self._engine, leave) if ids else []

    def rejoin(self, group_id: str, *, site_ids: Sequence[SiteId] | None) -> list[CommentId]:
        """See `GroupStore.rejoin`."""
        theirs = sa.select(comments.c.id).where(*of_sites(site_ids))
        left = sa.and_(_acts.left_ring_id == group_id, has_left_ring)
        if site_ids is not None:
            left = sa.and_(left, _acts.comment_id.in_(theirs))

        def rejoin(connection: sa.Connection) -> list[CommentId]:
            return sorted(_move(connection, left, ring_id=group_id, left_ring_id=None))

        return write(self._engine, rejoin)

    def facts(self, ring_ids: Collection[str]) -> Mapping[str, RingFacts]:
        """See `RingStore.facts`."""
        senders = sa.func.count(_acts.who.distinct()).label("senders")
        with reading(self._engine) as connection:
            counted = connection.execute(
                sa.select(_acts.ring_id, senders)
                .where(_acts.ring_id.in_(ring_ids), is_ringed)
                .group_by(_acts.ring_id)
            )
            numbers = {row.ring_id: row.senders for row in counted}
            query = sa.select(rings.c.id, rings.c.ties).where(rings.c.id.in_(list(numbers)))
            return {
                row.id: RingFacts(ties=tuple(row.ties), senders=numbers[row.id])
                for row in connection.execute(query)
            }

    def rulings_beside(self, who: Collection[str]) -> Mapping[str, Mapping[SiteId, Record]]:
        """See `RingStore.rulings_beside`."""
        with reading(self._engine) as connection:
            found = _ringed(connection, who)
            rows = connection.execute(_ruled_in(set(found.values()))).all() if found else []
        beside: dict[str, dict[SiteId, Record]] = {one: {} for one in found}
        for one, ring_id in found.items():
            counts: defaultdict[SiteId, dict[str, int]] = defaultdict(dict)
            for row in rows:
                if row.ring_id == ring_id and row.who != one:
                    ruled = counts[row.site_id]
                    ruled[row.ruling] = ruled.get(row.ruling, 0) + row.number
            beside[one] = {
                site_id: Record(
                    approved=ruled.get(Ruling.APPROVE, 0), rejected=ruled.get(Ruling.REJECT, 0)
                )
                for site_id, ruled in counts.items()
            }
        return beside

    def kept_of(self, ids: Sequence[CommentId]) -> Mapping[CommentId, KeptAct]:
        """See `RingStore.kept_of`."""
        with reading(self._engine) as connection:
            return {
                row.comment_id: KeptAct(who=row.who, ties=tuple(row.ties), ring_id=row.ring_id)
                for some in chunks(ids)
                for row in connection.execute(
                    sa.select(ring_acts).where(_acts.comment_id.in_(some))
                )
            }

    def prune(self, *, received_before: datetime, most: int, limit: int) -> int:
        """See `RingStore.prune`."""

        def prune(connection: sa.Connection) -> int:
            oldest = (
                sa.select(_acts.seq, _acts.comment_id).order_by(_acts.seq).limit(limit).subquery()
            )
            old = sa.select(oldest.c.seq).where(
                comments.c.id == oldest.c.comment_id, comments.c.received_at < received_before
            )
            surplus = (
                sa.select(_acts.seq)
                .where(
                    _acts.seq <= _newest(connection) - most,
                    _acts.ring_id.is_(None),
                    _acts.left_ring_id.is_(None),
                )
                .order_by(_acts.seq)
                .limit(limit)
            )
            gone = {*connection.scalars(old), *connection.scalars(surplus)}
            for some in chunks(sorted(gone)):
                connection.execute(sa.delete(ring_acts).where(_acts.seq.in_(some)))
            known = sa.select(sa.literal(1)).where(
                sa.or_(
                    sa.and_(_acts.ring_id == rings.c.id, is_ringed),
                    sa.and_(_acts.left_ring_id == rings.c.id, has_left_ring),
                )
            )
            connection.execute(sa.delete(rings).where(~sa.exists(known.correlate(rings))))
            return len(gone)

        return write(self._engine, prune)


def insert_acts(connection: sa.Connection, acts: Sequence[Act]) -> None:
    """Keep the acts of comments that were judged in this transaction."""
    rows = [{"comment_id": one.comment_id, "who": one.who, "ties": list(one.ties)} for one in acts]
    for some in chunks(rows):
        connection.execute(insert_if_free(connection, ring_acts), some)


def delete_acts(connection: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Forget by what the senders of these comments could be told to belong together."""
    for some in chunks(ids):
        connection.execute(sa.delete(ring_acts).where(_acts.comment_id.in_(some)))


def _ringed(connection: sa.Connection, who: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for some in chunks(sorted(who)):
        query = (
            sa.select(_acts.who, _acts.ring_id)
            .where(_acts.who.in_(some), is_ringed)
            .distinct()
            .order_by(_acts.ring_id)
        )
        found.update((row.who, row.ring_id) for row in connection.execute(query))
    return found


def _newest(connection: sa.Connection) -> int:
    return connection.scalar(sa.select(sa.func.max(_acts.seq))) or 0


def _place(connection: sa.Connection, ring: PlacedRing) -> int:
    member = sa.select(_acts.who).where(_acts.ring_id == ring.ring_id)
    left = sa.select(_acts.who).where(_acts.left_ring_id == ring.ring_id, has_left_ring)
    gone = set(connection.scalars(left)) - set(connection.scalars(member))
    placed = 0
    for some in chunks(sorted(ring.who - gone)):
        placed += connection.execute(
            sa.update(ring_acts)
            .where(
                _acts.who.in_(some),
                _acts.ring_id.is_distinct_from(ring.ring_id),
                _acts.left_ring_id.is_distinct_from(ring.ring_id),
            )
            .values(ring_id=ring.ring_id)
        ).rowcount
    last = connection.scalar(
        sa.select(sa.func.max(comments.c.received_at))
        .select_from(_with_comments)
        .where(_acts.ring_id == ring.ring_id, is_ringed)
    )
    if last is not None:
        values = {"ties": list(ring.ties), "last_seen_at": last}
        connection.execute(
            upsert(connection, rings)
            .values(id=ring.ring_id, **values)
            .on_conflict_do_update(index_elements=["id"], set_=values)
        )
    return placed


def _ruled(connection: sa.Connection, ring_ids: set[str | None]) -> set[str | None]:
    """Return those rings on which a decision is in force."""
    query = (
        sa.select(_acts.ring_id)
        .join(decisions, decisions.c.comment_id == _acts.comment_id)
        .where(_acts.ring_id.in_(ring_ids), is_ringed, decisions.c.undone_at.is_(None))
        .distinct()
    )
    return set(connection.scalars(query))


def _ruled_in(ring_ids: set[str]) -> sa.Select[Any]:
    return (
        sa.select(
            _acts.ring_id,
            _acts.who,
            comments.c.site_id,
            decisions.c.ruling,
            sa.func.count().label("number"),
        )
        .select_from(_with_comments.join(decisions, decisions.c.comment_id == _acts.comment_id))
        .where(
            _acts.ring_id.in_(ring_ids),
            is_ringed,
            decisions.c.undone_at.is_(None),
            decisions.c.decided_by != CAMPAIGN_POLICY,
        )
        .group_by(_acts.ring_id, _acts.who, comments.c.site_id, decisions.c.ruling)
    )


def _move(
    connection: sa.Connection, members: sa.ColumnElement[bool], **values: str | None
) -> list[CommentId]:
    statement = sa.update(ring_acts).where(members).values(**values)
    return list(connection.scalars(statement.returning(_acts.comment_id)))
