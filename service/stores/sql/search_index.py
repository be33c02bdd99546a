"""Keeps what comments are found by: what is to be indexed, indexing, leaving out."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from service.domain.comment import CommentId
from service.domain.verdict import Verdict
from service.stores.search_terms import terms_of
from service.stores.sql.base.mapping import Values
from service.stores.sql.base.rows import Row, comment_from, verdict_from
from service.stores.sql.base.statements import chunks, execute_in, insert_if_free, rows_in
from service.stores.sql.schema.tables import comments, search_docs, search_due, verdicts

log = logging.getLogger(__name__)

fts = sa.table(
    "search_fts",
    sa.column("rowid"),
    sa.column("terms"),
    sa.column("search_fts"),
    sa.column("rank"),
)
# Of 4 kB each: one transaction holds SQLite's one write lock for some tens of milliseconds.
_MERGED_PAGES = 200

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# So many comments can arrive in one microsecond before they borrow places of the next one.
_PLACES = 2_048
# Beyond the year 2109 all comments count as of one moment, or the number would not fit.
_LAST_MICROSECOND = 4_400_000_000_000_000


def first_place(moment: datetime) -> int:
    """Return the smallest `seq` of what arrives at this moment."""
    micros = (moment - _EPOCH) // _MICROSECOND
    return max(-_LAST_MICROSECOND, min(micros, _LAST_MICROSECOND)) * _PLACES


def mark_for_index(connection: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Remember that the search does not know these comments as they stand.

    Whoever calls has their rows locked, or has just made them.
    """
    for some in chunks(ids):
        kept = sa.select(comments.c.id).where(comments.c.id.in_(some))
        due = insert_if_free(connection, search_due).from_select(["comment_id"], kept)
        connection.execute(due)


def leave_out(connection: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Let these comments be found no more; SQLite's index holds their words until it is merged."""
    _drop(connection, ids)
    execute_in(connection, sa.delete(search_due), search_due.c.comment_id, ids)


def merge(connection: sa.Connection, *, begins: bool = False) -> bool:
    """Write a portion of SQLite's index anew without what was deleted; say whether more is left.

    FTS5 only notes that words are gone, until it has merged all it holds into one piece (SQLite
    documentation, FTS5, 6.8).
    """
    counted: Any = connection.connection.driver_connection
    before = counted.total_changes
    pages = -_MERGED_PAGES if begins else _MERGED_PAGES
    connection.execute(sa.insert(fts).values(search_fts="merge", rank=pages))
    # With nothing left to do it counts the command itself alone.
    return bool(counted.total_changes - before > 1)


def index_due(connection: sa.Connection, *, limit: int) -> int:
    """Let the newest comments that are due be found; return how many that were."""
    newest = search_due.c.comment_id.desc()
    due = list(connection.scalars(sa.select(search_due.c.comment_id).order_by(newest).limit(limit)))
    # Those that somebody else changes now are left for later.
    query = sa.select(comments).with_for_update(key_share=True, skip_locked=True)
    rows = list(rows_in(connection, query, comments.c.id, due))
    if not rows:
        return 0
    ids = [row.id for row in rows]
    leave_out(connection, ids)
    of_them = rows_in(connection, sa.select(verdicts), verdicts.c.comment_id, ids)
    judged = {row.comment_id: verdict_from(row) for row in of_them}
    findable = [row for row in rows if row.withdrawn_at is None]
    places = _places(connection, findable)
    docs: list[Values] = [
        {
            "seq": places[row.id],
            "comment_id": row.id,
            "site_id": row.site_id,
            "terms": written(connection, _terms(row, judged.get(row.id))),
        }
        for row in findable
    ]
    # FTS5 writes what comes in ascending order in one go.
    _insert(connection, sorted(docs, key=lambda doc: doc["seq"]))
    return len(ids)


def _terms(row: Row, verdict: Verdict | None) -> list[str]:
    try:
        return terms_of(comment_from(row), verdict, audit=row.audit)
    except Exception:  # one odd comment must not keep others from being found
        log.exception("a comment cannot be found", extra={"id": row.id})
        return []


def written(connection: sa.Connection, terms: Sequence[str]) -> str:
    """Return the terms as the database takes them: in a row, or each with its places."""
    if connection.dialect.name != "postgresql":
        return " ".join(terms)
    places: dict[str, list[int]] = {}
    for place, term in enumerate(terms, start=1):
        places.setdefault(term, []).append(place)
    return " ".join(f"'{term}':{','.join(map(str, at[:255]))}" for term, at in places.items())


def _places(connection: sa.Connection, rows: Sequence[Row]) -> dict[CommentId, int]:
    """Return a free `seq` for each row, in the order of arrival."""
    wanted = {
        row.id: first_place(row.received_at) + zlib.crc32(row.id.encode()) % _PLACES for row in rows
    }
    seq = search_docs.c.seq
    taken = {row.seq for row in rows_in(connection, sa.select(seq), seq, sorted(wanted.values()))}
    places: dict[CommentId, int] = {}
    for comment_id, place in wanted.items():
        if place in taken:
            free = (p for p in _after(connection, place) if p not in taken)
            place = next(free)  # the place beside the one that is taken
        taken.add(place)
        places[comment_id] = place
    return places


def _after(connection: sa.Connection, place: int) -> Iterator[int]:
    """Yield the places after this one that no row has, upwards."""
    while True:
        ahead = range(place + 1, place + 1 + _PLACES)
        query = sa.select(search_docs.c.seq).where(search_docs.c.seq.between(ahead[0], ahead[-1]))
        kept = set(connection.scalars(query))
        yield from (free for free in ahead if free not in kept)
        place = ahead[-1]


def _insert(connection: sa.Connection, docs: Sequence[Values]) -> None:
    if not docs:
        return
    connection.execute(sa.insert(search_docs), docs)
    if connection.dialect.name != "postgresql":
        index = sa.insert(fts).values(rowid=sa.bindparam("seq"), terms=sa.bindparam("terms"))
        connection.execute(index, [{"seq": doc["seq"], "terms": doc["terms"]} for doc in docs])


def _drop(connection: sa.Connection, ids: Sequence[CommentId]) -> None:
    for some in chunks(ids):
        is_one = search_docs.c.comment_id.in_(some)
        if connection.dialect.name != "postgresql":
            _drop_from_fts(connection, is_one)
        connection.execute(sa.delete(search_docs).where(is_one))


def _drop_from_fts(connection: sa.Connection, is_one: sa.ColumnElement[bool]) -> None:
    # FTS5 forgets terms only if it is told them once more (SQLite documentation, FTS5, 4.4.3).
    query = sa.select(search_docs.c.seq, search_docs.c.terms).where(is_one)
    gone = [{"seq": row.seq, "terms": row.terms} for row in connection.execute(query)]
    if gone:
        forget = sa.insert(fts).values(
            search_fts="delete", rowid=sa.bindparam("seq"), terms=sa.bindparam("terms")
        )
        connection.execute(forget, gone)
