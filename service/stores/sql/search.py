"""Full-text search of comments in a SQL database."""

import hashlib
import logging
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSQUERY

from service.domain.case import Case
from service.domain.comment import Comment, CommentId
from service.domain.page import Page
from service.domain.search import (
    SINGLE,
    Field,
    SearchQuery,
    Term,
    phrase_of,
    stands_alone,
    words_of,
)
from service.domain.verdict import Verdict
from service.signals.hosts import host_of, registered_domain
from service.signals.links import find_links
from service.stores.cursor import EPOCH, read_cursor
from service.stores.sql.base import (
    SiteIds,
    SqlStore,
    chunks,
    execute_in,
    insert_if_free,
    rows_in,
    transaction,
)
from service.stores.sql.cases import read_case_page
from service.stores.sql.engine import reading
from service.stores.sql.rows import Row, Values, comment_from, verdict_from
from service.stores.sql.tables import comments, decisions, search_docs, search_due, verdicts

# PostgreSQL allows 1 MiB of terms and stores positions up to 16,383.
_MAX_WORDS = 15_000
_MAX_BYTES = 400_000
# Shorter prefixes match too many words.
MIN_PREFIX_CHARS = 3

EVERYTHING = "z"
_WORD, _AUTHOR, _DOMAIN, _SIGNAL, _OUTCOME, _MODEL, _FLAG, _SITE = "wadsomft"
_DEGRADED, _AUDIT = f"{_FLAG}degraded", f"{_FLAG}audit"
_FLAGS = {Field.DEGRADED: _DEGRADED, Field.AUDIT: _AUDIT}


# Consecutive terms. One that ends with an asterisk is a prefix.
Terms = tuple[str, ...]


class Need(NamedTuple):
    """A condition: one of these sequences of terms, or none of them if `negated`."""

    any_of: tuple[Terms, ...]
    negated: bool = False


def terms_of(comment: Comment, verdict: Verdict | None, *, audit: bool) -> list[str]:
    """Return a comment's terms; those of its text and of its author's name are in order."""
    text = [f"{_WORD}{word}" for word in words_of(comment.text)[:_MAX_WORDS]]
    author = [f"{_AUTHOR}{word}" for word in words_of(comment.author.name or "")]
    facts = [EVERYTHING, f"{_SITE}{_digest(comment.site_id)}"]
    facts += [domain_term(host) for host in hosts_of(comment)]
    facts += _verdict_terms(verdict)
    if audit:
        facts.append(_AUDIT)
    return [*facts, *author, *_bounded(text)]


def hosts_of(comment: Comment) -> list[str]:
    """Return the hosts that a comment and its author link to, and their registered domains."""
    linked = [link.host for link in find_links(comment.text)][:100]
    hosts = [host for host in (*linked, host_of(comment.author.url or "")) if host]
    return list(dict.fromkeys(name for h in hosts for name in (h, registered_domain(h)) if name))


def domain_term(host: str) -> str:
    """Return the term of a host or domain, a digest because hosts are untrusted text."""
    return f"{_DOMAIN}{_digest(host.lower())}"


def needs_of(query: SearchQuery) -> list[Need]:
    """Return a query's conditions on terms, without the fields that are not indexed as terms."""
    # Excluding "yes" is the same as requiring "no", and vice versa.
    needs = [
        Need(((_FLAGS[term.field],),), negated=(term.value == "no") is not term.negated)
        for term in query.of(*_FLAGS)
    ]
    for field, indexed in _INDEXED.items():
        terms = query.of(field)
        wanted = [indexed(term) for term in terms if not term.negated]
        if field in SINGLE and wanted:
            needs.append(Need(tuple(wanted)))
        else:
            needs += [Need((one,)) for one in wanted]
        needs += [Need((indexed(term),), negated=True) for term in terms if term.negated]
    return needs


def site_needs(site_ids: SiteIds) -> list[Need]:
    """Return the condition that a comment is of one of these sites, if they are few."""
    if not site_ids or len(site_ids) > _MAX_SITE_TERMS:
        return []
    return [Need(tuple((f"{_SITE}{_digest(site_id)}",) for site_id in site_ids))]


def domain_need(domain: str) -> Need:
    return Need(((domain_term(domain),),))


def _verdict_terms(verdict: Verdict | None) -> Iterator[str]:
    if verdict is None:
        yield f"{_OUTCOME}waiting"
        return
    yield f"{_OUTCOME}{verdict.outcome.value}"
    yield f"{_MODEL}{_digest(verdict.model_version)}"
    if verdict.degraded:
        yield _DEGRADED
    for weighed in verdict.signals:
        yield f"{_SIGNAL}{_digest(weighed.signal.name)}"


def _bounded(terms: Sequence[str]) -> Iterator[str]:
    size = 0
    for term in terms:
        size += len(term.encode()) + 8
        if size > _MAX_BYTES:
            return
        yield term


def _words(kind: str, term: Term) -> Terms:
    *words, last = phrase_of(term.value)
    if stands_alone(last) or (not term.exact and len(last) >= MIN_PREFIX_CHARS):
        last = f"{last}*"
    return tuple(f"{kind}{word}" for word in (*words, last))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# Decisions and reports change, so stores look them up; sites are limited to the account's.
_INDEXED: Mapping[Field, Callable[[Term], Terms]] = {
    Field.TEXT: lambda term: _words(_WORD, term),
    Field.AUTHOR: lambda term: _words(_AUTHOR, term),
    Field.DOMAIN: lambda term: (domain_term(host_of(term.value) or term.value),),
    Field.SIGNAL: lambda term: (f"{_SIGNAL}{_digest(term.value.lower())}",),
    Field.MODEL: lambda term: (f"{_MODEL}{_digest(term.value)}",),
    Field.OUTCOME: lambda term: (f"{_OUTCOME}{term.value}",),
}


log = logging.getLogger(__name__)

# With more sites than this, only the condition on the row applies.
_MAX_SITE_TERMS = 8
_LIST = "search"
_MAX_PLACE = 2**63 - 1
_fts = sa.table(
    "search_fts", sa.column("rowid"), sa.column("terms"), sa.column("search_fts"), sa.column("rank")
)
# Pages have 4 kB. One transaction holds SQLite's write lock for some tens of milliseconds.
_MERGED_PAGES = 200

# More comments within one microsecond use positions of the next.
_PLACES = 2_048
# Comments after the year 2109 count as of one moment, so that the number fits.
_MAX_MICROSECOND = 4_400_000_000_000_000


class CaseSearch(SqlStore):
    """Searches comments by words, links, senders, verdicts and decisions.

    `site_ids` are the sites to search, None for all; a query's `site:` terms are ignored. Withdrawn
    comments are never found.
    """

    @transaction
    def index_due(self, tx: sa.Connection, *, limit: int) -> int:
        """Index comments that were added or judged since, newest first; return how many.

        Until then they are not found, or only as before their verdict. Decisions and reports need
        no indexing. Safe to repeat.
        """
        newest = search_due.c.comment_id.desc()
        due = list(tx.scalars(sa.select(search_due.c.comment_id).order_by(newest).limit(limit)))
        # Skips rows that are locked now.
        query = sa.select(comments).with_for_update(key_share=True, skip_locked=True)
        rows = list(rows_in(tx, query, comments.c.id, due))
        if not rows:
            return 0
        ids = [row.id for row in rows]
        leave_out(tx, ids)
        of_them = rows_in(tx, sa.select(verdicts), verdicts.c.comment_id, ids)
        judged = {row.comment_id: verdict_from(row) for row in of_them}
        findable = [row for row in rows if row.withdrawn_at is None]
        places = _places(tx, findable)
        docs: list[Values] = [
            {
                "seq": places[row.id],
                "comment_id": row.id,
                "site_id": row.site_id,
                "terms": written(tx, _terms(row, judged.get(row.id))),
            }
            for row in findable
        ]
        # FTS5 writes entries in ascending order faster.
        docs.sort(key=lambda doc: doc["seq"])
        if docs:
            tx.execute(sa.insert(search_docs), docs)
        if docs and tx.dialect.name != "postgresql":
            index = sa.insert(_fts).values(rowid=sa.bindparam("seq"), terms=sa.bindparam("terms"))
            tx.execute(index, [{"seq": doc["seq"], "terms": doc["terms"]} for doc in docs])
        return len(ids)

    def drop_left_out(self) -> None:
        """Remove withdrawn comments' words from SQLite's index, in short transactions."""
        if self._engine.dialect.name == "postgresql":
            return
        has_more = self.write(lambda tx: _merge(tx, begins=True))
        while has_more:
            has_more = self.write(_merge)

    def find(
        self, query: SearchQuery, *, site_ids: SiteIds, cursor: str | None, limit: int
    ) -> Page[Case, str]:
        """Return one page, newest first. Raise `InvalidInputError` for an invalid cursor."""
        after = None
        if cursor is not None:
            after = read_cursor(cursor, _LIST, least=-_MAX_PLACE, most=_MAX_PLACE).rank
        found = self._select(query, site_ids, after=after)
        with reading(self._engine) as tx:
            return read_case_page(tx, found, _LIST, limit)

    def ids(self, query: SearchQuery, *, site_ids: SiteIds, limit: int) -> list[CommentId]:
        return self._list(self._select(query, site_ids).limit(limit), lambda row: row.id)

    def count(self, query: SearchQuery, *, site_ids: SiteIds, limit: int) -> int:
        """Return the number of matches; `limit` means at least that many."""
        found = self._select(query, site_ids).order_by(None).limit(limit).subquery()
        return self._count(sa.select(sa.func.count()).select_from(found))

    def _select(
        self, query: SearchQuery, site_ids: SiteIds, *, after: int | None = None
    ) -> sa.Select[Any]:
        found, place = _DOCS, cast("sa.ColumnElement[int]", _docs.seq)
        needs = [*needs_of(query), *site_needs(site_ids)]
        if needs:
            dialect = self._engine.dialect.name
            found, place = matching(dialect, match_terms(dialect, needs))
        if site_ids is not None:
            found = found.where(_docs.site_id.in_(site_ids))
        if query.received_from is not None:
            found = found.where(place >= first_place(query.received_from))
        if query.received_before is not None:
            found = found.where(place < first_place(query.received_before))
        if after is not None:
            found = found.where(place < after)
        # Decisions and reports change after indexing.
        found = found.where(*_of_decisions(query))
        if reported := query.of(Field.REPORTED):
            # Joined last, because rows of comments are wide.
            joined = found.join(comments, comments.c.id == _docs.comment_id)
            found = joined.where(*_of_reports(reported))
        return found.order_by(place.desc())


_docs = search_docs.c
_DOCS = sa.select(_docs.seq.label("rank"), _docs.comment_id.label("id"))


def matching(
    dialect: str, terms: str | sa.BindParameter[str]
) -> tuple[sa.Select[Any], sa.ColumnElement[int]]:
    """Return the query for the documents that match `match_terms`, and the number to sort by."""
    if dialect == "postgresql":
        return _DOCS.where(_docs.terms.op("@@")(sa.cast(terms, TSQUERY))), _docs.seq
    place: sa.ColumnElement[int] = _fts.c.rowid
    found = _DOCS.select_from(_fts.join(search_docs, _docs.seq == place))
    return found.where(_fts.c.search_fts.op("MATCH")(terms)), place


def match_terms(dialect: str, needs: Sequence[Need]) -> str:
    """Return the conditions in the form of this kind of database."""
    return _tsquery(needs) if dialect == "postgresql" else _fts5(needs)


def _of_reports(terms: Sequence[Term]) -> Iterator[sa.ColumnElement[bool]]:
    reported_as = comments.c.reported_as
    for term in terms:
        if term.value in ("yes", "no"):
            reported = (term.value == "yes") is not term.negated
            yield reported_as.is_not(None) if reported else reported_as.is_(None)
        elif term.negated:
            yield sa.or_(reported_as.is_(None), reported_as != term.value)
        else:
            yield reported_as == term.value


def _of_decisions(query: SearchQuery) -> Iterator[sa.ColumnElement[bool]]:
    for field, condition in ((Field.DECISION, _is_ruled), (Field.BY, _is_by)):
        terms = query.of(field)
        wanted = [condition(term.value) for term in terms if not term.negated]
        if wanted:
            yield sa.or_(*wanted)
        yield from (sa.not_(condition(term.value)) for term in terms if term.negated)


def _is_ruled(value: str) -> sa.ColumnElement[bool]:
    if value == "none":
        return sa.not_(_in_force(sa.true()))
    return _in_force(decisions.c.ruling == value)


def _is_by(name: str) -> sa.ColumnElement[bool]:
    # Databases fold few scripts; the name as typed is found in any.
    by = decisions.c.decided_by
    return _in_force(sa.or_(by == name, sa.func.lower(by) == name.lower()))


def _in_force(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.exists().where(
        decisions.c.comment_id == search_docs.c.comment_id,
        decisions.c.undone_at.is_(None),
        condition,
    )


def _fts5(needs: Sequence[Need]) -> str:
    """Return the conditions for FTS5. Terms contain only letters, digits, `.`, `_` and `-`."""
    wanted = [_any_fts5(need) for need in needs if not need.negated] or [f'"{EVERYTHING}"']
    unwanted = [_any_fts5(need) for need in needs if need.negated]
    expression = " AND ".join(wanted)
    return f"({expression}) NOT ({' OR '.join(unwanted)})" if unwanted else expression


def _any_fts5(need: Need) -> str:
    phrases = [f'"{" ".join(terms)}"'.replace('*"', '"*') for terms in need.any_of]
    return f"({' OR '.join(phrases)})"


def _tsquery(needs: Sequence[Need]) -> str:
    wanted = []
    for need in needs:
        quoted = [[f"'{term}'".replace("*'", "':*") for term in terms] for terms in need.any_of]
        any_of = " | ".join(f"({' <-> '.join(phrase)})" for phrase in quoted)
        wanted.append(f"{'!' if need.negated else ''}({any_of})")
    return " & ".join(wanted)


def first_place(moment: datetime) -> int:
    """Return the smallest `seq` of comments that arrive at this moment."""
    micros = (moment - EPOCH) // timedelta(microseconds=1)
    return max(-_MAX_MICROSECOND, min(micros, _MAX_MICROSECOND)) * _PLACES


def mark_for_index(tx: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Mark comments, whose rows are locked or new, for indexing."""
    for some in chunks(ids):
        kept = sa.select(comments.c.id).where(comments.c.id.in_(some))
        tx.execute(insert_if_free(tx, search_due).from_select(["comment_id"], kept))


def leave_out(tx: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Remove comments from the search; SQLite's index keeps their words until it is merged."""
    for some in chunks(ids):
        is_one = search_docs.c.comment_id.in_(some)
        if tx.dialect.name != "postgresql":
            # FTS5 needs the terms to delete an entry (SQLite's documentation, FTS5, 4.4.3).
            gone = sa.select(sa.literal("delete"), search_docs.c.seq, search_docs.c.terms)
            columns = ["search_fts", "rowid", "terms"]
            tx.execute(sa.insert(_fts).from_select(columns, gone.where(is_one)))
        tx.execute(sa.delete(search_docs).where(is_one))
    execute_in(tx, sa.delete(search_due), search_due.c.comment_id, ids)


def _merge(tx: sa.Connection, *, begins: bool = False) -> bool:
    """Merge a part of SQLite's index (FTS5, 6.8); return True if more remains."""
    counted: Any = tx.connection.driver_connection
    before = counted.total_changes
    pages = -_MERGED_PAGES if begins else _MERGED_PAGES
    tx.execute(sa.insert(_fts).values(search_fts="merge", rank=pages))
    # If nothing was merged, only the command itself is counted.
    return bool(counted.total_changes - before > 1)


def _terms(row: Row, verdict: Verdict | None) -> list[str]:
    try:
        return terms_of(comment_from(row), verdict, audit=row.audit)
    except Exception:  # one odd comment must not keep others from being found
        log.exception("a comment cannot be found", extra={"id": row.id})
        return []


def written(tx: sa.Connection, terms: Sequence[str]) -> str:
    """Return the terms in the form of SQLite, or of PostgreSQL with their positions."""
    if tx.dialect.name != "postgresql":
        return " ".join(terms)
    places: dict[str, list[int]] = {}
    for place, term in enumerate(terms, start=1):
        places.setdefault(term, []).append(place)
    return " ".join(f"'{term}':{','.join(map(str, at[:255]))}" for term, at in places.items())


def _places(tx: sa.Connection, rows: Sequence[Row]) -> dict[CommentId, int]:
    """Return a free `seq` for each row, in the order of arrival."""
    wanted = {
        row.id: first_place(row.received_at) + zlib.crc32(row.id.encode()) % _PLACES for row in rows
    }
    seq = search_docs.c.seq
    taken = {row.seq for row in rows_in(tx, sa.select(seq), seq, sorted(wanted.values()))}
    places: dict[CommentId, int] = {}
    for comment_id, place in wanted.items():
        if place in taken:
            free = (p for p in _after(tx, place) if p not in taken)
            place = next(free)
        taken.add(place)
        places[comment_id] = place
    return places


def _after(tx: sa.Connection, place: int) -> Iterator[int]:
    while True:
        ahead = range(place + 1, place + 1 + _PLACES)
        query = sa.select(search_docs.c.seq).where(search_docs.c.seq.between(ahead[0], ahead[-1]))
        kept = set(tx.scalars(query))
        yield from (free for free in ahead if free not in kept)
        place = ahead[-1]
