"""Finds comments by their words and fields in a SQL database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSQUERY

from service.domain.case import CasePage
from service.domain.comment import CommentId, SiteId
from service.domain.search import Field, SearchQuery, Term
from service.stores.cursor import Place, read_cursor, write_cursor
from service.stores.search_terms import EVERYTHING, Need, Phrase, needs_of, site_need
from service.stores.sql.base.engine import reading
from service.stores.sql.base.store import SqlStore
from service.stores.sql.cases import load_cases
from service.stores.sql.schema.tables import comments, decisions, search_docs
from service.stores.sql.search_index import first_place, fts, index_due, merge

# More sites than these are left to the condition on the row, which holds anyway.
_MAX_SITE_TERMS = 8
_LIST = "search"
_MAX_PLACE = 2**63 - 1


class CaseSearch(SqlStore):
    """Finds comments by their words, links, senders, verdicts and decisions.

    A query's `site:` terms are for the use case to resolve; here `site_ids` says which sites are
    looked at, None for all. Withdrawn comments are never found.
    """

    def index_due(self, *, limit: int) -> int:
        """Let comments be found that were kept or judged since; return how many, at most `limit`.

        The newest come first. Until then they are not found, or as they were before their
        verdict; decisions and reports are known at once. Safe to run at any time, twice too.
        """
        return self.write(lambda connection: index_due(connection, limit=limit))

    def drop_left_out(self) -> None:
        """Have the index hold no word that only withdrawn comments had.

        They are not found any more as soon as they are withdrawn, but an index may go on holding
        their words until it is written anew. Others may write meanwhile. Safe to run at any time,
        twice too; it takes time in line with the index's size.
        """
        if self._engine.dialect.name == "postgresql":
            return
        # The first portion takes in hand what all others finish.
        goes_on = self.write(lambda connection: merge(connection, begins=True))
        while goes_on:
            goes_on = self.write(merge)

    def find(
        self,
        query: SearchQuery,
        *,
        site_ids: Sequence[SiteId] | None,
        cursor: str | None,
        limit: int,
    ) -> CasePage:
        """Return one page, the newest received first.

        Raise `InvalidInputError` for a cursor that this store did not make.
        """
        after = (
            None
            if cursor is None
            else read_cursor(cursor, _LIST, least=-_MAX_PLACE, most=_MAX_PLACE).rank
        )
        with reading(self._engine) as connection:
            found = select_docs(connection, query, site_ids, after=after, limit=limit + 1)
            rows = connection.execute(found).all()
            cases = load_cases(connection, [row.comment_id for row in rows[:limit]])
        if len(rows) <= limit:
            return CasePage(cases=tuple(cases))
        cursor = write_cursor(_LIST, Place(rank=rows[limit - 1].seq))
        return CasePage(cases=tuple(cases), next_cursor=cursor)

    def ids(
        self, query: SearchQuery, *, site_ids: Sequence[SiteId] | None, limit: int
    ) -> list[CommentId]:
        """Return the newest comments' ids, at most `limit`."""
        with reading(self._engine) as connection:
            found = select_docs(connection, query, site_ids, limit=limit)
            return [row.comment_id for row in connection.execute(found)]

    def count(self, query: SearchQuery, *, site_ids: Sequence[SiteId] | None, limit: int) -> int:
        """Return how many match; `limit` means so many or more."""
        with reading(self._engine) as connection:
            found = select_docs(connection, query, site_ids, limit=limit, ordered=False).subquery()
            counted = sa.select(sa.func.count()).select_from(found)
            return connection.execute(counted).scalar_one()


def select_docs(
    connection: sa.Connection,
    query: SearchQuery,
    site_ids: Sequence[SiteId] | None,
    *,
    limit: int,
    after: int | None = None,
    ordered: bool = True,
    extra: Sequence[Need] = (),
) -> sa.Select[tuple[int, CommentId]]:
    """Return the statement that finds `seq` and `comment_id`, the newest first."""
    needs = [*needs_of(query), *extra]
    if site_ids and len(site_ids) <= _MAX_SITE_TERMS:
        needs.append(site_need(site_ids))
    d = search_docs.c
    found: sa.Select[tuple[int, CommentId]] = sa.select(d.seq, d.comment_id)
    place: sa.ColumnElement[int] = d.seq
    if needs and connection.dialect.name == "postgresql":
        found = found.where(d.terms.op("@@")(sa.cast(_tsquery(needs), TSQUERY)))
    elif needs:
        place = fts.c.rowid
        found = found.select_from(fts.join(search_docs, d.seq == place))
        found = found.where(fts.c.search_fts.op("MATCH")(_fts5(needs)))
    if site_ids is not None:
        found = found.where(d.site_id.in_(site_ids))
    if query.received_from is not None:
        found = found.where(place >= first_place(query.received_from))
    if query.received_before is not None:
        found = found.where(place < first_place(query.received_before))
    if after is not None:
        found = found.where(place < after)
    found = _that_stand_so(found, query)
    return (found.order_by(place.desc()) if ordered else found).limit(limit)


def _that_stand_so(
    found: sa.Select[tuple[int, CommentId]], query: SearchQuery
) -> sa.Select[tuple[int, CommentId]]:
    """Add what a query asks of decisions and reports, which change after comments were indexed."""
    found = found.where(*_of_decisions(query))
    reported = query.of(Field.REPORTED)
    if not reported:
        # Rows of comments are wide; there are fewer decisions than comments, and they are narrow.
        return found
    found = found.join(comments, comments.c.id == search_docs.c.comment_id)
    return found.where(*_of_reports(reported))


def _of_reports(terms: Sequence[Term]) -> Iterator[sa.ColumnElement[bool]]:
    said = comments.c.reported_as
    for term in terms:
        if term.value in ("yes", "no"):
            reported = (term.value == "yes") is not term.negated
            yield said.is_not(None) if reported else said.is_(None)
        elif term.negated:
            yield sa.or_(said.is_(None), said != term.value)
        else:
            yield said == term.value


def _of_decisions(query: SearchQuery) -> Iterator[sa.ColumnElement[bool]]:
    wanted = [term for term in query.of(Field.DECISION) if not term.negated]
    if wanted:
        yield sa.or_(*(_is_ruled(term.value) for term in wanted))
    for term in query.of(Field.DECISION):
        if term.negated:
            yield sa.not_(_is_ruled(term.value))
    by = query.of(Field.BY)
    wanted = [term for term in by if not term.negated]
    if wanted:
        yield sa.or_(*(_in_force(_is_by(term.value)) for term in wanted))
    for term in by:
        if term.negated:
            yield sa.not_(_in_force(_is_by(term.value)))


def _is_ruled(value: str) -> sa.ColumnElement[bool]:
    if value == "none":
        return sa.not_(_in_force(sa.true()))
    return _in_force(decisions.c.ruling == value)


def _is_by(name: str) -> sa.ColumnElement[bool]:
    # Databases fold only what they know; as typed it is found whatever the script.
    return sa.or_(
        decisions.c.decided_by == name, sa.func.lower(decisions.c.decided_by) == name.lower()
    )


def _in_force(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.exists().where(
        decisions.c.comment_id == search_docs.c.comment_id,
        decisions.c.undone_at.is_(None),
        condition,
    )


def _fts5(needs: Sequence[Need]) -> str:
    """Return the needs as an expression of FTS5. Terms hold letters, digits, `.`, `_`, `-` only."""
    wanted = [_any_fts5(need) for need in needs if not need.negated] or [f'"{EVERYTHING}"']
    unwanted = [_any_fts5(need) for need in needs if need.negated]
    expression = " AND ".join(wanted)
    return f"({expression}) NOT ({' OR '.join(unwanted)})" if unwanted else expression


def _any_fts5(need: Need) -> str:
    return "(" + " OR ".join(_phrase_fts5(phrase) for phrase in need.any_of) + ")"


def _phrase_fts5(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.terms)}"' + ("*" if phrase.begins else "")


def _tsquery(needs: Sequence[Need]) -> str:
    """Return the needs as a `tsquery` of PostgreSQL."""
    return " & ".join(("!" if need.negated else "") + _any_tsquery(need) for need in needs)


def _any_tsquery(need: Need) -> str:
    return "(" + " | ".join(_phrase_tsquery(phrase) for phrase in need.any_of) + ")"


def _phrase_tsquery(phrase: Phrase) -> str:
    quoted = " <-> ".join(f"'{term}'" for term in phrase.terms)
    return f"({quoted}{':*' if phrase.begins else ''})"
