"""Counts comments for figures and for operators in a SQL database."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from service.domain.comment import Lane
from service.domain.decision import Ruling
from service.domain.delivery import DeliveryState
from service.domain.figures import (
    P_SPAM_EDGES,
    Backlog,
    FigureCounts,
    QueueFigures,
    ReviewPart,
    Scope,
    Waiting,
)
from service.domain.verdict import Outcome
from service.stores.cursor import APPEAL_RANK, CHECK_RANK, REST_RANK, UNSURE_RANK
from service.stores.sql.base import SqlStore, of_sites
from service.stores.sql.engine import reading
from service.stores.sql.tables import (
    comments,
    decisions,
    deliveries,
    has_no_verdict,
    has_verdict,
    is_by_person,
    is_held_as_spam,
    is_in_force,
    is_kept_and_judged,
    is_undelivered,
    sites,
    verdicts,
    waits_for_review,
    waits_for_verdict,
)

# Waiting times are computed from this many of the newest decisions.
MAX_WAITED = 2_000
RECENT = timedelta(days=7)
EARLIER = timedelta(days=28)
_FIRST_DAY = date(1970, 1, 1)
_is_audited = sa.and_(
    comments.c.outcome.in_([Outcome.HAM.value, Outcome.SPAM.value]), comments.c.audit.is_(True)
)
_decided_by_person = sa.and_(is_in_force, is_by_person)
# Such verdicts follow a list entry, so the model could not get them wrong.
_followed_entry = sa.exists().where(
    verdicts.c.comment_id == comments.c.id, verdicts.c.instruction.is_not(None)
)


class FigureStore(SqlStore):
    """Counts comments for the figures, and waiting work for operators."""

    def count(self, scope: Scope) -> FigureCounts:
        """Return the counts of the scope; `queue` is as of now.

        A comment counts on the day on which it was received. `audited` excludes verdicts that
        followed a list entry, and decisions of policies.
        """
        recently = scope.until - RECENT
        degraded = sa.select(sa.func.count()).where(
            *_received(scope),
            comments.c.outcome == Outcome.UNSURE.value,
            comments.c.degraded.is_(True),
        )
        with reading(self._engine) as tx:
            return FigureCounts(
                days=_days(tx, scope),
                degraded=tx.execute(degraded).scalar_one(),
                queue=_queue(tx, scope),
                audited=_audited(tx, scope),
                recent_scores=_scores(tx, scope, recently, scope.until),
                earlier_scores=_scores(tx, scope, recently - EARLIER, recently),
            )

    def backlog(self) -> Backlog:
        """Return the counts of what waits, in one snapshot, from indexes only."""
        with reading(self._engine) as tx:
            unjudged = _by(tx, comments.c.lane, comments.c.received_at, waits_for_verdict)
            review = _by(tx, comments.c.review_rank, comments.c.received_at, waits_for_review)
            held = sa.select(_NUMBER, sa.func.min(comments.c.received_at).label("oldest"))
            row = tx.execute(held.where(is_held_as_spam)).one()
            review[REST_RANK] = Waiting(number=row.number, oldest=row.oldest)
            # One query per outcome, because the index sorts by outcome and age.
            received_at = sa.select(comments.c.received_at).order_by(comments.c.received_at)
            oldest: list[datetime | None] = [
                tx.scalar(
                    received_at.where(
                        is_kept_and_judged, comments.c.outcome == outcome.value
                    ).limit(1)
                )
                for outcome in Outcome
            ]
            told = _by(tx, deliveries.c.state, deliveries.c.created_at, is_undelivered)
            return Backlog(
                unjudged={lane: unjudged.get(lane.value, Waiting()) for lane in Lane},
                review={part: review.get(rank, Waiting()) for rank, part in _PARTS.items()},
                callbacks=told.get(DeliveryState.WAITING.value, Waiting()),
                dead_callbacks=told.get(DeliveryState.DEAD.value, Waiting()),
                oldest_kept=min((at for at in oldest if at is not None), default=None),
            )

    def oldest_unjudged(self) -> datetime | None:
        """Return when the comment that waits longest for its verdict arrived, None without one."""
        query = (
            sa.select(comments.c.received_at)
            .where(waits_for_verdict)
            .order_by(comments.c.received_at)
            .limit(1)
        )
        return self._find(query, lambda row: row.received_at)


def _received(
    scope: Scope, since: datetime | None = None, until: datetime | None = None
) -> list[sa.ColumnElement[bool]]:
    # An index that begins with the site is used only by queries that name the sites.
    wanted = of_sites(scope.site_ids) or [comments.c.site_id.in_(sa.select(sites.c.id))]
    received_at = comments.c.received_at
    return [*wanted, received_at >= (since or scope.since), received_at <= (until or scope.until)]


def _days(tx: sa.Connection, scope: Scope) -> Mapping[date, Counter[Outcome | None]]:
    day = _utc_day(tx).label("day")
    number = sa.func.count().label("comments")
    query = sa.select(day, comments.c.outcome, number).where(*_received(scope))
    # Separately, because an index cannot serve both conditions at once.
    conditions = (comments.c.outcome.in_([one.value for one in Outcome]), has_no_verdict)
    days: defaultdict[date, Counter[Outcome | None]] = defaultdict(Counter)
    for wanted in conditions:
        for row in tx.execute(query.where(wanted).group_by(day, comments.c.outcome)):
            outcome = None if row.outcome is None else Outcome(row.outcome)
            days[_FIRST_DAY + timedelta(row.day)][outcome] += row.comments
    return days


def _utc_day(tx: sa.Connection) -> sa.ColumnElement[Any]:
    """Return the UTC day since 1970, without parameters, so that it can be grouped by."""
    received_at = comments.c.received_at
    if tx.dialect.name == "postgresql":
        utc = sa.func.timezone(sa.literal_column("'UTC'"), received_at)
        return sa.cast(utc, sa.Date) - sa.literal_column("DATE '1970-01-01'", sa.Date)
    return sa.type_coerce(received_at, sa.BigInteger).op("/")(sa.literal_column("86400000000"))


def _queue(tx: sa.Connection, scope: Scope) -> QueueFigures:
    columns = (comments.c.review_rank, comments.c.audit)
    query = (
        sa.select(
            *columns,
            sa.func.count().label("number"),
            sa.func.min(comments.c.received_at).label("oldest"),
        )
        .where(waits_for_review, *of_sites(scope.site_ids))
        .group_by(*columns)
    )
    found = tx.execute(query).all()
    to_check = [row for row in found if row.review_rank > UNSURE_RANK]
    oldest = min((row.oldest for row in found), default=None)
    waited = _waited(tx, scope)
    return QueueFigures(
        unsure=sum(row.number for row in found if row.review_rank <= UNSURE_RANK),
        audited=sum(row.number for row in to_check if row.audit),
        reported=sum(row.number for row in to_check if not row.audit),
        oldest_seconds=max(0.0, (scope.until - oldest).total_seconds()) if oldest else None,
        median_seconds=statistics.median(waited) if waited else None,
    )


def _audited(tx: sa.Connection, scope: Scope) -> Counter[tuple[Outcome, Ruling | None]]:
    key = (comments.c.outcome, decisions.c.ruling)
    query = (
        sa.select(*key, sa.func.count().label("comments"))
        .select_from(comments.outerjoin(decisions, _decided_by_person))
        .where(
            *_received(scope),
            _is_audited,
            sa.or_(decisions.c.ruling.is_not(None), waits_for_review),
            ~_followed_entry,
        )
        .group_by(*key)
    )
    return Counter(
        {
            (Outcome(row.outcome), Ruling(row.ruling) if row.ruling else None): row.comments
            for row in tx.execute(query)
        }
    )


def _waited(tx: sa.Connection, scope: Scope) -> list[float]:
    """Return the seconds to the newest decisions on comments of the review queue."""
    query = (
        sa.select(decisions.c.decided_at, comments.c.received_at)
        .select_from(decisions.join(comments, _decided_by_person))
        .where(
            decisions.c.decided_at >= scope.since,
            decisions.c.decided_at <= scope.until,
            sa.or_(comments.c.outcome == Outcome.UNSURE.value, _is_audited),
            *of_sites(scope.site_ids),
        )
        .order_by(decisions.c.seq.desc())
        .limit(MAX_WAITED)
    )
    return [
        max(0.0, (row.decided_at - row.received_at).total_seconds()) for row in tx.execute(query)
    ]


def _scores(tx: sa.Connection, scope: Scope, since: datetime, until: datetime) -> tuple[int, ...]:
    last = len(P_SPAM_EDGES) - 2
    steps = enumerate(P_SPAM_EDGES[1:-1])
    in_bin = sa.case(*((comments.c.p_spam < edge, n) for n, edge in steps), else_=last)
    query = (
        sa.select(in_bin.label("in_bin"), sa.func.count().label("number"))
        .where(*_received(scope, since, until), has_verdict)
        .group_by(in_bin)
    )
    found = {row.in_bin: row.number for row in tx.execute(query)}
    return tuple(found.get(number, 0) for number in range(last + 1))


_NUMBER = sa.func.count().label("number")
_PARTS = {
    APPEAL_RANK: ReviewPart.APPEALED,
    UNSURE_RANK: ReviewPart.UNSURE,
    CHECK_RANK: ReviewPart.TO_CHECK,
    REST_RANK: ReviewPart.HELD_AS_SPAM,
}


def _by(
    tx: sa.Connection,
    key: sa.Column[str] | sa.Column[int],
    moment: sa.Column[datetime],
    wanted: sa.ColumnElement[bool],
) -> dict[str | int, Waiting]:
    query = (
        sa.select(key.label("key"), _NUMBER, sa.func.min(moment).label("oldest"))
        .where(wanted)
        .group_by(key)
    )
    return {row.key: Waiting(number=row.number, oldest=row.oldest) for row in tx.execute(query)}
