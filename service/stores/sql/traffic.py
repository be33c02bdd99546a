"""Counts traffic in a SQL database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa

from service.domain.comment import CommentId, SiteId
from service.domain.traffic import Kind, Name, Sighting, Traffic, TrafficDay
from service.stores.sql.base.days import day_of
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.statements import chunks, insert_if_free, upsert
from service.stores.sql.schema.traffic import (
    counts_verdicts,
    known_domains,
    traffic_counts,
    traffic_due,
)

_FIRST_DAY = date(1970, 1, 1)
_t = traffic_counts.c


class SqlTrafficStore:
    """Counts traffic in a SQL database; see `TrafficStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def fresh(self, *, limit: int) -> list[CommentId]:
        """See `TrafficStore.fresh`."""
        query = sa.select(traffic_due.c.comment_id).order_by(traffic_due.c.comment_id).limit(limit)
        with reading(self._engine) as connection:
            return list(connection.scalars(query))

    def note_domains(self, seen: Mapping[str, datetime]) -> Mapping[str, datetime]:
        """See `TrafficStore.note_domains`."""
        if not seen:
            return {}

        def note(connection: sa.Connection) -> dict[str, datetime]:
            statement = upsert(connection, known_domains)
            earlier = statement.excluded.first_seen_at
            # In one order, so that two who note the same domains never wait for each other.
            for some in chunks(sorted(seen)):
                rows = [{"digest": one, "first_seen_at": seen[one]} for one in some]
                connection.execute(
                    statement.on_conflict_do_update(
                        index_elements=["digest"],
                        set_={"first_seen_at": earlier},
                        where=known_domains.c.first_seen_at > earlier,
                    ),
                    rows,
                )
            return _first_seen(connection, sorted(seen))

        return write(self._engine, note)

    def count(self, sightings: Sequence[Sighting]) -> int:
        """See `TrafficStore.count`."""
        by_id = {one.comment_id: one for one in sightings}
        if not by_id:
            return 0

        def count(connection: sa.Connection) -> int:
            taken: list[CommentId] = []
            for some in chunks(sorted(by_id)):
                # Whoever deletes the row counts the comment: so it is counted once.
                gone = sa.delete(traffic_due).where(traffic_due.c.comment_id.in_(some))
                taken += connection.scalars(gone.returning(traffic_due.c.comment_id))
            _add(connection, [by_id[comment_id] for comment_id in taken])
            return len(taken)

        return write(self._engine, count)

    def first_days(
        self, *, site_ids: Sequence[SiteId] | None, model_version: str, limit: int
    ) -> list[TrafficDay]:
        """See `TrafficStore.first_days`."""
        query = (
            sa.select(_t.day, sa.func.sum(_t.number).label("verdicts"))
            .where(_t.model_version == model_version, counts_verdicts, *_of_sites(site_ids))
            .group_by(_t.day)
            .order_by(_t.day)
            .limit(limit)
        )
        with reading(self._engine) as connection:
            return [
                TrafficDay(day=day_of(row.day), verdicts=int(row.verdicts))
                for row in connection.execute(query)
            ]

    def between(
        self,
        first: date,
        last: date,
        *,
        site_ids: Sequence[SiteId] | None,
        model_version: str | None,
    ) -> Traffic:
        """See `TrafficStore.between`."""
        query = (
            sa.select(_t.kind, _t.name, sa.func.sum(_t.number).label("number"))
            .where(*_within(first, last), *_of_sites(site_ids))
            .group_by(_t.kind, _t.name)
        )
        if model_version is not None:
            query = query.where(_t.model_version == model_version)
        with reading(self._engine) as connection:
            counts = {
                (Kind(row.kind), row.name): int(row.number) for row in connection.execute(query)
            }
        return Traffic(first=first, last=last, counts=counts)

    def facts_by_day(
        self, first: date, last: date, *, site_ids: Sequence[SiteId] | None
    ) -> list[Traffic]:
        """See `TrafficStore.facts_by_day`."""
        query = (
            sa.select(_t.day, _t.name, sa.func.sum(_t.number).label("number"))
            .where(*_within(first, last), _t.kind == Kind.FACT.value, *_of_sites(site_ids))
            .group_by(_t.day, _t.name)
        )
        found: dict[date, dict[Name, int]] = {}
        with reading(self._engine) as connection:
            for row in connection.execute(query):
                day = found.setdefault(day_of(row.day), {})
                day[Kind.FACT, row.name] = int(row.number)
        return [Traffic(first=day, last=day, counts=found[day]) for day in sorted(found)]


def ask_to_count(connection: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Remember that these comments, judged now, are to be counted."""
    rows = [{"comment_id": comment_id} for comment_id in ids]
    connection.execute(insert_if_free(connection, traffic_due), rows)


def _first_seen(connection: sa.Connection, domains: Sequence[str]) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for some in chunks(domains):
        query = sa.select(known_domains).where(known_domains.c.digest.in_(some))
        found.update({row.digest: row.first_seen_at for row in connection.execute(query)})
    return found


def _add(connection: sa.Connection, sightings: Sequence[Sighting]) -> None:
    counts = Counter(
        ((one.day - _FIRST_DAY).days, one.site_id, one.model_version, kind.value, name)
        for one in sightings
        for kind, name in one.names
    )
    if not counts:
        return
    statement = upsert(connection, traffic_counts)
    columns = ("day", "site_id", "model_version", "kind", "name")
    rows: list[dict[str, Any]] = [
        dict(zip(columns, key, strict=True)) | {"number": number}
        for key, number in sorted(counts.items())
    ]
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=columns, set_={"number": _t.number + statement.excluded.number}
        ),
        rows,
    )


def _of_sites(site_ids: Sequence[SiteId] | None) -> list[sa.ColumnElement[bool]]:
    return [] if site_ids is None else [_t.site_id.in_(site_ids)]


def _within(first: date, last: date) -> list[sa.ColumnElement[bool]]:
    return [_t.day >= (first - _FIRST_DAY).days, _t.day <= (last - _FIRST_DAY).days]
