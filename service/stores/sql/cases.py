"""Reads cases from a SQL database."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.sql.util import ClauseAdapter

from service.domain.case import Appeal, Case, CaseFilter, Order, State
from service.domain.comment import CommentId, Label, SiteId
from service.domain.decision import Ruling
from service.domain.figures import CutoffPreview, Moved, Tally
from service.domain.page import Page
from service.domain.published import PublishedComment
from service.domain.verdict import Outcome
from service.scoring.weights import Cutoffs
from service.stores.cursor import APPEAL_RANK, REST_RANK, Place, cursor_after, read_cursor
from service.stores.sql.base import SqlStore, chunks, is_older, known, of_sites, rows_in
from service.stores.sql.engine import reading
from service.stores.sql.rows import (
    Row,
    comment_from,
    decision_from,
    joined_verdict_from,
    report_from,
    second_opinion_from,
    settings_from,
)
from service.stores.sql.tables import (
    comments,
    decisions,
    has_no_verdict,
    has_p_spam,
    has_short_post_url,
    has_verdict,
    is_decided,
    is_held_as_spam,
    is_in_force,
    reports,
    sites,
    verdicts,
    waits_for_review,
)

_T = TypeVar("_T")


class CaseStore(SqlStore):
    def get(self, comment_id: CommentId, *, site_id: SiteId | None = None) -> Case:
        """Return a case. Raise `NotFoundError` if it is unknown or belongs to another site."""
        cases = self.find([comment_id])
        found = next((one for one in cases if site_id in (None, one.comment.site_id)), None)
        return known(found, "comment", comment_id)

    def find(self, ids: Sequence[CommentId]) -> list[Case]:
        """Return the cases of known ids, in the order of `ids`, without duplicates."""
        with reading(self._engine) as tx:
            return load_cases(tx, list(dict.fromkeys(ids)))

    def find_judged(self, ids: Sequence[CommentId]) -> list[Case]:
        """Return the cases of ids that have a verdict, in no order; cheap to poll."""
        with reading(self._engine) as tx:
            query = sa.select(comments.c.id).where(has_verdict)
            judged = rows_in(tx, query, comments.c.id, sorted(set(ids)))
            return load_cases(tx, [row.id for row in judged])

    def page(
        self, criteria: CaseFilter, *, order: Order, cursor: str | None, limit: int
    ) -> Page[Case, str]:
        """Return one page. Raise `InvalidInputError` for an invalid cursor."""
        conditions = _conditions(criteria)
        if cursor is not None:
            place = read_cursor(cursor, order.value, least=APPEAL_RANK, most=REST_RANK)
            conditions.append(_after(place, order))
        rank: sa.ColumnElement[Any] = sa.literal(0)
        at: sa.ColumnElement[Any] = comments.c.received_at
        if order is Order.REVIEW:
            rank, at = comments.c.review_rank, comments.c.review_at
        query = (
            sa.select(comments.c.id, rank.label("rank"), at.label("at"))
            .where(*conditions)
            .order_by(*_ASCENDING.get(order, _NEWEST))
        )
        with reading(self._engine) as tx:
            return read_case_page(tx, query, order.value, limit)

    def published(
        self, site_id: SiteId, post_urls: Sequence[str], *, offset: int, limit: int
    ) -> list[PublishedComment]:
        """Return published comments at any of these URLs, oldest first; see `as_published`.

        URLs longer than `MAX_POST_CHARS` match nothing.
        """
        at = sa.func.coalesce(comments.c.written_at, comments.c.received_at).label("at")
        names = ("id", "text", "author_name", "author_url", "post_url", "reply_to")
        query = (
            sa.select(*(comments.c[name] for name in names), at)
            .select_from(comments.outerjoin(decisions, is_in_force))
            .where(
                comments.c.site_id == site_id,
                comments.c.post_url.in_(post_urls),
                has_short_post_url,
                comments.c.withdrawn_at.is_(None),
                (decisions.c.ruling == Ruling.APPROVE.value)
                | (decisions.c.id.is_(None) & (comments.c.outcome == Outcome.HAM.value)),
            )
            .order_by(at, comments.c.id)
            .offset(offset)
            .limit(limit)
        )
        with reading(self._engine) as tx:
            return [PublishedComment(**row) for row in tx.execute(query).mappings()]

    def count(self, criteria: CaseFilter) -> int:
        query = sa.select(sa.func.count()).select_from(comments).where(*_conditions(criteria))
        return self._count(query)

    def newcomers(
        self,
        criteria: CaseFilter,
        *,
        received_after: datetime,
        judged_after: datetime,
        limit: int,
    ) -> list[CommentId]:
        """Return comments that arrived and were judged since then, newest first."""
        query = (
            sa.select(comments.c.id)
            .join(verdicts, verdicts.c.comment_id == comments.c.id)
            .where(
                *_conditions(criteria),
                comments.c.received_at > received_after,
                verdicts.c.judged_at > judged_after,
            )
            .order_by(*_NEWEST)
            .limit(limit)
        )
        return self._list(query, lambda row: row.id)

    def tally(
        self, site_id: SiteId, *, received_from: datetime, received_before: datetime
    ) -> Tally:
        """Return the counts of a site's comments received in this period."""
        criteria = CaseFilter(
            site_ids=(site_id,), received_from=received_from, received_before=received_before
        )
        columns = (comments.c.outcome, comments.c.reported_as, decisions.c.ruling)
        query = (
            sa.select(*columns, sa.func.count().label("comments_counted"))
            .select_from(comments.outerjoin(decisions, is_in_force))
            .where(*_conditions(criteria))
            .group_by(*columns)
        )
        rows = self._rows(query)
        outcomes: Counter[str | None] = Counter()
        # An unsure verdict cannot be contradicted.
        contradicted: Counter[str] = Counter()
        for row in rows:
            outcomes[row.outcome] += row.comments_counted
            label = row.reported_as
            if row.ruling is not None:
                label = Label.SPAM if row.ruling == Ruling.REJECT else Label.HAM
            if row.outcome in (Outcome.SPAM, Outcome.HAM) and label not in (None, row.outcome):
                contradicted[row.outcome] += row.comments_counted
        return Tally(
            received=outcomes.total(),
            spam=outcomes[Outcome.SPAM],
            ham=outcomes[Outcome.HAM],
            unsure=outcomes[Outcome.UNSURE],
            missed_spam=contradicted[Outcome.HAM],
            false_positives=contradicted[Outcome.SPAM],
        )

    def cutoff_preview(
        self, site_id: SiteId, *, received_from: datetime, cutoffs: Cutoffs
    ) -> CutoffPreview:
        """Return how these cutoffs would change the verdicts on a site's comments since then."""
        # Wrapped, because SQLite would use the index by outcome and read every comment.
        was = sa.func.coalesce(comments.c.outcome, "").label("was")
        # The SQL form of `scoring.conclude.decide`.
        becomes = sa.case(
            (comments.c.degraded.is_(True), Outcome.UNSURE.value),
            (comments.c.p_spam >= cutoffs.spam_cutoff, Outcome.SPAM.value),
            (comments.c.id.in_(_HELD), Outcome.UNSURE.value),
            (comments.c.p_spam < cutoffs.ham_cutoff, Outcome.HAM.value),
            else_=Outcome.UNSURE.value,
        )
        columns = (was, becomes.label("becomes"))
        wanted = (comments.c.site_id == site_id, comments.c.received_at >= received_from)
        number = sa.func.count().label("comments_counted")
        all_of_them = (
            sa.select(*columns, number).where(*wanted, has_p_spam).group_by("was", "becomes")
        )
        ruled = (
            sa.select(*columns, decisions.c.ruling, number)
            .select_from(comments.join(decisions, is_in_force))
            .where(*wanted, comments.c.decided, has_p_spam)
            .group_by("was", "becomes", decisions.c.ruling)
        )
        with reading(self._engine) as tx:
            counted = tx.execute(all_of_them).all()
            by_ruling = tx.execute(ruled).all()
        comments_of = {(row.was, row.becomes): row.comments_counted for row in counted}
        ruled_of = {(row.was, row.becomes, row.ruling): row.comments_counted for row in by_ruling}
        return CutoffPreview(
            moved=tuple(
                Moved(
                    was=was,
                    becomes=becomes,
                    comments=comments_of[was, becomes],
                    approved=ruled_of.get((was, becomes, Ruling.APPROVE), 0),
                    rejected=ruled_of.get((was, becomes, Ruling.REJECT), 0),
                )
                for was in Outcome
                for becomes in Outcome
                if (was, becomes) in comments_of
            )
        )


_HELD = sa.select(verdicts.c.comment_id).where(verdicts.c.held_by.is_not(None))


def _conditions(criteria: CaseFilter) -> list[sa.ColumnElement[bool]]:
    wanted = of_sites(criteria.site_ids)
    if criteria.state is not None:
        wanted += _STATE_CONDITIONS[criteria.state]
    if criteria.outcome is not None:
        wanted.append(comments.c.outcome == criteria.outcome.value)
    if criteria.needs_review is not None:
        wanted.append(waits_for_review if criteria.needs_review else sa.not_(waits_for_review))
    if criteria.held_as_spam:
        wanted.append(is_held_as_spam)
    if criteria.degraded is not None:
        wanted.append(comments.c.degraded.is_(criteria.degraded))
        if criteria.degraded:
            # Redundant, because a degraded verdict is unsure, but needed for the index.
            wanted.append(comments.c.outcome == Outcome.UNSURE.value)
    bounds: tuple[tuple[Any, Callable[[Any], sa.ColumnElement[bool]]], ...] = (
        (criteria.received_from, comments.c.received_at.__ge__),
        (criteria.received_before, comments.c.received_at.__lt__),
        (criteria.p_spam_below, comments.c.p_spam.__lt__),
    )
    return [*wanted, *(condition(bound) for bound, condition in bounds if bound is not None)]


_STATE_CONDITIONS: dict[State, list[sa.ColumnElement[bool]]] = {
    State.PENDING: [has_no_verdict, comments.c.decided.is_(False)],
    State.JUDGED: [has_verdict, comments.c.decided.is_(False)],
    State.DECIDED: [is_decided],
}


_NEWEST = (comments.c.received_at.desc(), comments.c.id.desc())
# Comments without a verdict come last.
_doubt = sa.func.coalesce(sa.func.abs(comments.c.p_spam - 0.5), sa.literal(1.0))
_ASCENDING: dict[Order, tuple[sa.ColumnElement[Any], ...]] = {
    Order.REVIEW: (comments.c.review_rank, comments.c.review_at, comments.c.id),
    Order.OLDEST: (comments.c.received_at, comments.c.id),
    Order.DOUBT: (_doubt, comments.c.id),
    Order.SITE: (comments.c.site_id, comments.c.received_at, comments.c.id),
}


def _after(place: Place, order: Order) -> sa.ColumnElement[bool]:
    if order is Order.NEWEST:
        return is_older(comments.c.received_at, comments.c.id, place)
    at = sa.literal(place.at, comments.c.received_at.type)
    comment_id = sa.literal(place.id, comments.c.id.type)
    there: dict[Order, tuple[sa.ColumnElement[Any], ...]] = {
        Order.REVIEW: (sa.literal(place.rank, comments.c.review_rank.type), at, comment_id),
        Order.OLDEST: (at, comment_id),
        Order.DOUBT: (_of_comment(_doubt, comment_id), comment_id),
        Order.SITE: (_of_comment(comments.c.site_id, comment_id), at, comment_id),
    }
    return sa.tuple_(*_ASCENDING[order]) > sa.tuple_(*there[order])


def _of_comment(
    what: sa.ColumnElement[Any], comment_id: sa.ColumnElement[str]
) -> sa.ColumnElement[Any]:
    """Return an immutable value of the comment that a cursor names."""
    one = comments.alias("named")
    named = sa.select(ClauseAdapter(one).traverse(what)).where(one.c.id == comment_id)
    return named.scalar_subquery()


def read_case_page(
    tx: sa.Connection, query: sa.Select[Any], of: str, limit: int
) -> Page[Case, str]:
    """Return the cases of the query's first `limit` rows; see `cursor_after`."""
    rows = tx.execute(query.limit(limit + 1)).all()
    cases = load_cases(tx, [row.id for row in rows[:limit]])
    return Page(items=tuple(cases), next_cursor=cursor_after(of, rows, limit))


def load_cases(tx: sa.Connection, ids: Sequence[CommentId]) -> list[Case]:
    """Return the cases of these ids, in order, in two or three statements per thousand."""
    cases: dict[CommentId, Case] = {}
    for some in chunks(ids):
        rows = tx.execute(_CASE_ROWS.where(comments.c.id.in_(some))).all()
        found_decisions = _by_comment(tx, decisions, some, decision_from)
        # The newest report's label is in the comment's row; few comments have one.
        reported = [row.id for row in rows if row.reported_as]
        found_reports = _by_comment(tx, reports, reported, report_from)
        for row in rows:
            settings = settings_from(row.settings)
            cases[row.id] = Case(
                comment=comment_from(row),
                mode=settings.mode,
                verdict=joined_verdict_from(row) if row.verdict_comment_id else None,
                decisions=tuple(found_decisions[row.id]),
                audit=row.audit,
                reports=tuple(found_reports[row.id]),
                withdrawn_at=row.withdrawn_at,
                campaign_id=row.campaign_id,
                second_opinion=second_opinion_from(row.second_opinion),
                appeal=row.appealed_at
                and Appeal(
                    text=row.appeal, at=row.appealed_at, is_open=row.review_rank == APPEAL_RANK
                ),
                explains_spam=settings.explains_spam,
            )
    return [cases[comment_id] for comment_id in ids if comment_id in cases]


_CASE_ROWS = (
    sa.select(
        comments,
        sites.c.settings,
        *(column.label(f"verdict_{column.name}") for column in verdicts.c),
    )
    .join(sites, sites.c.id == comments.c.site_id)
    .outerjoin(verdicts, verdicts.c.comment_id == comments.c.id)
)


def _by_comment(
    tx: sa.Connection, table: sa.Table, ids: Sequence[CommentId], read: Callable[[Row], _T]
) -> defaultdict[CommentId, list[_T]]:
    found: defaultdict[CommentId, list[_T]] = defaultdict(list)
    query = sa.select(table).where(table.c.comment_id.in_(ids)).order_by(table.c.seq)
    for row in tx.execute(query) if ids else ():
        found[row.comment_id].append(read(row))
    return found
