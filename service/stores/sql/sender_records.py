"""Tells from a SQL database what is known of a comment's sender."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from service.domain.case import (
    MAX_COUNTED,
    MAX_LAST,
    MAX_LINKED_DOMAINS,
    MAX_OTHER_NAMES,
    Case,
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
        """Return what the sender's other comments of these sites came to; of all for None.

        However many they are, at most `MAX_COUNTED` of each trait are looked at, the newest
        first.
        """
        domains = linked_domains(comment)[:MAX_LINKED_DOMAINS]
        by_key, personal = keys_of(comment), person_keys(comment)
        values = _values_of(comment, by_key, site_ids)
        of_sites = site_ids is not None
        asked = [(trait, keys[0]) for trait, keys in by_key.items()]
        asked += [(Trait.DOMAIN, domain) for domain in domains]
        with reading(self._engine) as connection:
            arms = [*_counts(_shape(by_key), of_sites)]
            for domain in domains:
                found = _with_domain(connection, comment, domain, site_ids)
                arms.append(_count(len(arms), found))
            traits = (
                _records(asked, connection.execute(sa.union_all(*arms), values)) if arms else ()
            )
            newest = _newest(connection, personal, values, of_sites=of_sites)
            last = _last(connection, newest)
        names = () if Trait.NAME in personal else _other_names(comment, newest)
        return SenderRecord(traits=traits, other_names=names, last=last)


# How many keys a comment has of each trait: what statements differ by. SQLAlchemy takes far longer
# to build one than a database to answer it, so each is built once.
_Shape = tuple[tuple[Trait, int], ...]


def _shape(keys: Mapping[Trait, Sequence[str]]) -> _Shape:
    return tuple((trait, len(some)) for trait, some in keys.items())


def _values_of(
    comment: Comment, keys: Mapping[Trait, Sequence[str]], site_ids: Sequence[SiteId] | None
) -> dict[str, Any]:
    """Return what the statements' parameters stand for."""
    of_traits = {_name(trait, n): key for trait, some in keys.items() for n, key in enumerate(some)}
    return of_traits | {"own_id": comment.id, "site_ids": list(site_ids or ())}


def _name(trait: Trait, n: int) -> str:
    return f"{trait.name.lower()}_{n}"


def _with_key(
    trait: Trait, n_keys: int, *, of_sites: bool, limit: int = MAX_COUNTED + 1
) -> sa.Select[Any]:
    """Return the statement for the newest other comments with one of these keys."""

    def with_one(n: int) -> sa.Select[Any]:
        column = _COLUMNS[trait]
        query = sa.select(*_TOLD).where(
            column == sa.bindparam(_name(trait, n)), comments.c.id != sa.bindparam("own_id")
        )
        # Always true here, but the index is only used by a query that says so.
        query = query.where(column.is_not(None))
        if of_sites:
            sites: sa.BindParameter[Any] = sa.bindparam("site_ids", expanding=True)
            query = query.where(comments.c.site_id.in_(sites))
        return query.order_by(comments.c.received_at.desc()).limit(limit)

    if n_keys == 1:
        return with_one(0)
    # Each key by itself, as the index knows the newest of one key only.
    either = sa.union(*(sa.select(with_one(n).subquery()) for n in range(n_keys))).subquery()
    return sa.select(either).order_by(either.c.received_at.desc()).limit(limit)


@lru_cache(maxsize=64)
def _counts(shape: _Shape, of_sites: bool) -> tuple[sa.Select[Any], ...]:  # noqa: FBT001  # lru_cache takes it by place
    """Return the statements for what the comments with each trait came to."""
    found = [_with_key(trait, n_keys, of_sites=of_sites) for trait, n_keys in shape]
    return tuple(_count(place, one) for place, one in enumerate(found))


def _with_domain(
    connection: sa.Connection,
    comment: Comment,
    domain: str,
    site_ids: Sequence[SiteId] | None,
) -> sa.Select[Any]:
    found = select_docs(
        connection,
        SearchQuery(),
        site_ids,
        limit=MAX_COUNTED + 2,
        extra=[domain_need(domain)],
    ).subquery()
    query = sa.select(*_TOLD).join_from(found, comments, comments.c.id == found.c.comment_id)
    return query.where(comments.c.id != comment.id).limit(MAX_COUNTED + 1)


def _records(asked: Sequence[tuple[Trait, str]], counts: Iterable[Row]) -> tuple[TraitRecord, ...]:
    """Return what the comments with each trait came to."""
    rows = {row.place: row for row in counts}
    return tuple(
        TraitRecord(
            trait=trait,
            key=key,
            seen=min(rows[place].seen, MAX_COUNTED),
            approved=rows[place].approved,
            rejected=rows[place].rejected,
            waiting=rows[place].waiting,
            # One more than is counted may come.
            capped=rows[place].seen > MAX_COUNTED,
        )
        for place, (trait, key) in enumerate(asked)
    )


def _count(place: int, found: sa.Select[Any]) -> sa.Select[Any]:
    """Return the statement that counts what these comments came to, in a row with this place."""
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
    personal: Mapping[Trait, Sequence[str]],
    values: Mapping[str, Any],
    *,
    of_sites: bool,
) -> list[Row]:
    """Return the newest other comments of this person, by one trait after the other."""
    if not personal:
        return []
    rows = connection.execute(_newest_with(_shape(personal), of_sites), values).all()
    newest_first = sorted(rows, key=lambda row: row.received_at, reverse=True)
    return sorted(newest_first, key=lambda row: row.place)


@lru_cache(maxsize=64)
def _newest_with(shape: _Shape, of_sites: bool) -> sa.CompoundSelect[Any]:  # noqa: FBT001  # as above
    limit = MAX_LAST if Trait.NAME in dict(shape) else _NAMES_LOOKED_AT
    arms = []
    for place, (trait, n_keys) in enumerate(shape):
        told = _with_key(trait, n_keys, of_sites=of_sites, limit=limit).subquery()
        columns = (told.c.id, told.c.received_at, told.c.author_name)
        arms.append(sa.select(sa.literal(place).label("place"), *columns))
    return sa.union_all(*arms)


def _other_names(comment: Comment, newest: Sequence[Row]) -> tuple[str, ...]:
    names = dict.fromkeys(row.author_name for row in newest)
    others = [name for name in names if name and name != comment.author.name]
    return tuple(others[:MAX_OTHER_NAMES])


def _last(connection: sa.Connection, newest: Sequence[Row]) -> tuple[Case, ...]:
    received = {row.id: row.received_at for row in newest}
    found = sorted(sorted(received), key=lambda one: received[one], reverse=True)
    return tuple(load_cases(connection, found[:MAX_LAST])) if found else ()
