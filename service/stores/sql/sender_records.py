"""Tells from a SQL database what is known of a comment's sender."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from service.domain.case import (
    MAX_COUNTED,
    MAX_LAST,
    MAX_LINKED_DOMAINS,
    MAX_OTHER_NAMES,
    SenderRecord,
    Trait,
    TraitRecord,
    keys_of,
    person_keys,
)
from service.domain.comment import Comment, SiteId
from service.domain.decision import Ruling
from service.domain.search import SearchQuery
from service.signals.view import linked_domains
from service.stores.sql.base import SqlStore
from service.stores.sql.cases import load_cases
from service.stores.sql.engine import reading
from service.stores.sql.rows import Row
from service.stores.sql.search import domain_need, select_docs
from service.stores.sql.tables import comments, decisions, waits_for_review

_COLUMNS = {
    Trait.ADDRESS: comments.c.sender_address_key,
    Trait.NETWORK: comments.c.sender_network_key,
    Trait.EMAIL: comments.c.sender_email_key,
    Trait.NAME: comments.c.sender_name_key,
}
# What is read of each comment; its row is wide, and read once.
_TOLD = (
    comments.c.id,
    comments.c.received_at,
    comments.c.author_name,
    comments.c.decided,
    sa.case((waits_for_review, 1), else_=0).label("waits"),
)
# Names are looked for among so many of the newest comments with the same address or e-mail.
_NAMES_LOOKED_AT = 200


class SenderRecords(SqlStore):
    """Gives what is known of a comment's sender from the sender's other comments."""

    def look_up(self, comment: Comment, *, site_ids: Sequence[SiteId] | None) -> SenderRecord:
        """Return how the sender's newest other comments, `MAX_COUNTED` a trait, were ruled."""
        domains = linked_domains(comment)[:MAX_LINKED_DOMAINS]
        by_key, personal = keys_of(comment), person_keys(comment)
        asked = [(trait, keys[0]) for trait, keys in by_key.items()]
        asked += [(Trait.DOMAIN, domain) for domain in domains]
        most = MAX_COUNTED + 1
        with reading(self._engine) as connection:
            found = [_with_key(comment, *one, site_ids, limit=most) for one in by_key.items()]
            found += [_with_domain(connection, comment, one, site_ids) for one in domains]
            counts = [_count(place, one) for place, one in enumerate(found)]
            rows = connection.execute(sa.union_all(*counts)).all() if counts else ()
            newest = _newest(connection, comment, personal, site_ids)
            # The newest first, of one moment by id.
            last = {row.id: row.received_at for row in newest}
            ids = sorted(sorted(last), key=lambda one: last[one], reverse=True)
            cases = load_cases(connection, ids[:MAX_LAST]) if ids else []
        traits = tuple(
            TraitRecord(
                trait=asked[row.place][0],
                key=asked[row.place][1],
                seen=min(row.seen, MAX_COUNTED),
                approved=row.approved,
                rejected=row.rejected,
                waiting=row.waiting,
                # One more than is counted may come.
                capped=row.seen > MAX_COUNTED,
            )
            for row in sorted(rows, key=lambda row: row.place)
        )
        names = () if Trait.NAME in personal else dict.fromkeys(row.author_name for row in newest)
        others = [name for name in names if name and name != comment.author.name]
        return SenderRecord(
            traits=traits, other_names=tuple(others[:MAX_OTHER_NAMES]), last=tuple(cases)
        )


def _with_key(
    comment: Comment,
    trait: Trait,
    keys: Sequence[str],
    site_ids: Sequence[SiteId] | None,
    *,
    limit: int,
) -> sa.Select[Any]:
    """Return the statement for the newest other comments with one of these keys."""
    column = _COLUMNS[trait]
    found = []
    for key in keys:
        query = sa.select(*_TOLD).where(
            column == key,
            comments.c.id != comment.id,
            # Always true here, but the index is only used by a query that says so.
            column.is_not(None),
        )
        if site_ids is not None:
            query = query.where(comments.c.site_id.in_(site_ids))
        found.append(query.order_by(comments.c.received_at.desc()).limit(limit))
    if len(found) == 1:
        return found[0]
    # Each key by itself, as the index knows the newest of one key only.
    either = sa.union(*(sa.select(one.subquery()) for one in found)).subquery()
    return sa.select(either).order_by(either.c.received_at.desc()).limit(limit)


def _with_domain(
    connection: sa.Connection, comment: Comment, domain: str, site_ids: Sequence[SiteId] | None
) -> sa.Select[Any]:
    found = select_docs(
        connection, SearchQuery(), site_ids, limit=MAX_COUNTED + 2, extra=[domain_need(domain)]
    ).subquery()
    query = sa.select(*_TOLD).join_from(found, comments, comments.c.id == found.c.comment_id)
    return query.where(comments.c.id != comment.id).limit(MAX_COUNTED + 1)


def _count(place: int, found: sa.Select[Any]) -> sa.Select[Any]:
    """Return the statement that counts these comments by ruling, in a row with this place."""
    told = found.subquery()
    in_force = sa.and_(decisions.c.comment_id == told.c.id, decisions.c.undone_at.is_(None))
    ruling = sa.select(decisions.c.ruling).where(in_force).limit(1).scalar_subquery()
    each = sa.select(
        # Most are not decided, and nothing is looked up for them.
        sa.case((told.c.decided, ruling)).label("ruling"),
        told.c.waits,
    ).subquery()
    columns: list[sa.ColumnElement[Any]] = [
        sa.literal(place).label("place"),
        sa.func.count().label("seen"),
        _sum(sa.case((each.c.ruling == Ruling.APPROVE.value, 1), else_=0)).label("approved"),
        _sum(sa.case((each.c.ruling == Ruling.REJECT.value, 1), else_=0)).label("rejected"),
        _sum(each.c.waits).label("waiting"),
    ]
    return sa.select(*columns).select_from(each)


def _sum(of_each: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    # Of no rows the sum is no number.
    return sa.func.coalesce(sa.func.sum(of_each), 0)


def _newest(
    connection: sa.Connection,
    comment: Comment,
    personal: Mapping[Trait, Sequence[str]],
    site_ids: Sequence[SiteId] | None,
) -> Sequence[Row]:
    """Return the newest other comments of this person, by one trait after the other."""
    if not personal:
        return []
    limit = MAX_LAST if Trait.NAME in personal else _NAMES_LOOKED_AT
    arms = []
    for place, (trait, keys) in enumerate(personal.items()):
        told = _with_key(comment, trait, keys, site_ids, limit=limit).subquery()
        columns = (told.c.id, told.c.received_at, told.c.author_name)
        arms.append(sa.select(sa.literal(place).label("place"), *columns))
    rows = connection.execute(sa.union_all(*arms)).all()
    newest_first = sorted(rows, key=lambda row: row.received_at, reverse=True)
    return sorted(newest_first, key=lambda row: row.place)
