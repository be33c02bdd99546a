"""Counts in a SQL database what figures are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from service.domain.campaign import CAMPAIGN_POLICY, FEWEST_SHOWN
from service.domain.comment import SiteId
from service.domain.decision import IMPORT, Ruling
from service.domain.figures import (
    P_SPAM_EDGES,
    ActCount,
    AskedAt,
    CampaignCount,
    DayCount,
    FigureCounts,
    Leaned,
    LeftCounts,
    PairCount,
    RuledCount,
    Scope,
    SetSignal,
    SignalCount,
    TimedDecision,
    UnsureCount,
    VersionCount,
    WaitingNow,
)
from service.domain.verdict import Outcome, WeightKind
from service.scoring.holding import HELD_BACK
from service.scoring.lean import SITE_DECISIONS
from service.scoring.set_weights import SET_WEIGHTS
from service.stores.cursor import UNSURE_RANK
from service.stores.limits import FIGURE_LIMITS, FigureLimits
from service.stores.sql.base.days import day_of, utc_day
from service.stores.sql.base.engine import reading
from service.stores.sql.schema.tables import (
    comments,
    decisions,
    has_no_verdict,
    has_verdict,
    is_decided,
    sites,
    verdicts,
    waits_for_review,
)

# A comment is judged within minutes of its coming in; one that was judged in the period but came
# in longer before it than this is not counted where the sites are named.
_LONGEST_UNJUDGED = timedelta(days=7)
_is_confident = comments.c.outcome.in_([Outcome.HAM.value, Outcome.SPAM.value])
# Reports bring comments into the queue as well; when they did is not followed.
_came_into_queue = sa.or_(
    comments.c.outcome == Outcome.UNSURE.value, sa.and_(comments.c.audit.is_(True), _is_confident)
)
_by_person = decisions.c.decided_by != CAMPAIGN_POLICY
_in_force = sa.and_(
    decisions.c.comment_id == comments.c.id, decisions.c.undone_at.is_(None), _by_person
)
_has_verdict_row = verdicts.c.comment_id == comments.c.id
_has_entry_row = sa.and_(_has_verdict_row, verdicts.c.instruction.is_not(None))
_of_decision = comments.c.id == decisions.c.comment_id
_Reader = Callable[[str], sa.ColumnElement[Any]]


class SqlFigureStore:
    """Counts in a SQL database; see `FigureStore`."""

    def __init__(self, engine: sa.Engine, limits: FigureLimits = FIGURE_LIMITS) -> None:
        self._engine = engine
        self._limits = limits

    def count(self, scope: Scope) -> FigureCounts:
        """See `FigureStore.count`."""
        with reading(self._engine) as connection:
            sampled, signals = _signals(connection, scope, self._limits.verdicts)
            return FigureCounts(
                days=_days(connection, scope),
                waiting=_waiting(connection, scope),
                unsure=_unsure(connection, scope),
                left=_on_queued(connection, scope, decisions.c.decided_at),
                returned=_on_queued(connection, scope, decisions.c.undone_at),
                ruled=_ruled(connection, scope),
                followed=_followed(connection, scope),
                pairs=_pairs(connection, scope),
                sampled=sampled,
                signals=signals,
                versions=_versions(connection, scope),
                acts=_acts(connection, scope, self._limits.acts),
                timed=_timed(connection, scope, self._limits.timed),
                campaigns=_campaigns(connection, scope, self._limits.campaigns),
            )

    def asked(
        self, site_ids: Sequence[SiteId] | None, *, newest_first: bool, limit: int
    ) -> list[AskedAt]:
        """See `FigureStore.asked`."""
        imported = sa.exists().where(_of_decision, decisions.c.decided_by == IMPORT)
        wanted = [has_verdict, ~imported]
        if site_ids is not None:
            wanted.append(comments.c.site_id.in_(site_ids))
        order = (comments.c.received_at, comments.c.id)
        query = (
            sa.select(comments.c.received_at, comments.c.outcome, comments.c.audit)
            .where(*wanted)
            .order_by(*(one.desc() if newest_first else one for one in order))
            .limit(limit)
        )
        with reading(self._engine) as connection:
            return [
                AskedAt(
                    received_at=row.received_at,
                    asked=row.outcome == Outcome.UNSURE.value or row.audit,
                )
                for row in connection.execute(query)
            ]

    def left(self, scope: Scope) -> LeftCounts:
        """See `FigureStore.left`."""
        with reading(self._engine) as connection:
            some = _newest(scope, self._limits.leaned)
            number, since = connection.execute(
                sa.select(sa.func.count(), sa.func.min(some.c.received_at))
            ).one()
            return LeftCounts(
                days=_days(connection, scope),
                leaned=_leaned(connection, some),
                leaned_since=since if number == self._limits.leaned else None,
            )


def _of_sites(scope: Scope) -> list[sa.ColumnElement[bool]]:
    return [] if scope.site_ids is None else [comments.c.site_id.in_(scope.site_ids)]


def _received(scope: Scope, since: datetime | None = None) -> list[sa.ColumnElement[bool]]:
    """Return the conditions for comments of the scope, in a form that names their sites.

    An index that begins with the site is only used by a query that says which sites.
    """
    of_sites = _of_sites(scope) or [comments.c.site_id.in_(sa.select(sites.c.id))]
    received_at = comments.c.received_at
    return [*of_sites, received_at >= (since or scope.since), received_at <= scope.until]


def _within(moment: sa.ColumnElement[datetime | None], scope: Scope) -> sa.ColumnElement[bool]:
    return sa.and_(moment >= scope.since, moment <= scope.until)


def _days(connection: sa.Connection, scope: Scope) -> tuple[DayCount, ...]:
    key = (utc_day(comments.c.received_at).label("day"), comments.c.site_id)
    number = sa.func.count().label("number")
    judged = (
        sa.select(*key, comments.c.outcome, number)
        .where(*_received(scope), comments.c.outcome.in_([one.value for one in Outcome]))
        .group_by(*key, comments.c.outcome)
    )
    unjudged = sa.select(*key, number).where(*_received(scope), has_no_verdict).group_by(*key)
    rows = [
        (row.day, row.site_id, Outcome(row.outcome), row.number)
        for row in connection.execute(judged)
    ]
    without = [(row.day, row.site_id, None, row.number) for row in connection.execute(unjudged)]
    return tuple(
        DayCount(day=day_of(day), site_id=SiteId(site_id), outcome=outcome, comments=n)
        for day, site_id, outcome, n in [*rows, *without]
    )


def _unsure(connection: sa.Connection, scope: Scope) -> tuple[UnsureCount, ...]:
    withdrawn = sa.case((comments.c.decided.is_(False), comments.c.withdrawn_at))
    key = (
        utc_day(comments.c.received_at).label("day"),
        comments.c.site_id,
        comments.c.degraded,
        utc_day(withdrawn).label("withdrawn"),
    )
    query = (
        sa.select(*key, sa.func.count().label("number"))
        .where(*_received(scope), comments.c.outcome == Outcome.UNSURE.value)
        .group_by(*key)
    )
    return tuple(
        UnsureCount(
            day=day_of(row.day),
            site_id=SiteId(row.site_id),
            degraded=bool(row.degraded),
            withdrawn=None if row.withdrawn is None else day_of(row.withdrawn),
            comments=row.number,
        )
        for row in connection.execute(query)
    )


def _waiting(connection: sa.Connection, scope: Scope) -> WaitingNow:
    wanted = [waits_for_review, *_of_sites(scope)]
    columns = (comments.c.review_rank, comments.c.audit)
    query = (
        sa.select(
            *columns,
            sa.func.count().label("number"),
            sa.func.min(comments.c.received_at).label("oldest"),
        )
        .where(*wanted)
        .group_by(*columns)
    )
    found = connection.execute(query).all()
    if not found:
        return WaitingNow()
    total = sum(row.number for row in found)
    middle = (
        sa.select(comments.c.received_at)
        .where(*wanted)
        .order_by(comments.c.received_at)
        .offset(total // 2)
        .limit(1)
    )
    to_check = [row for row in found if row.review_rank != UNSURE_RANK]
    return WaitingNow(
        unsure=sum(row.number for row in found if row.review_rank == UNSURE_RANK),
        audited=sum(row.number for row in to_check if row.audit),
        reported=sum(row.number for row in to_check if not row.audit),
        oldest=min(row.oldest for row in found),
        middle=connection.execute(middle).scalar_one(),
    )


def _on_queued(
    connection: sa.Connection, scope: Scope, moment: sa.ColumnElement[Any]
) -> dict[date, int]:
    """Return by day how many decisions on comments that had been in the queue have this moment."""
    day = utc_day(moment).label("day")
    query = (
        sa.select(day, sa.func.count().label("number"))
        .select_from(decisions.join(comments, _of_decision))
        .where(_within(moment, scope), _came_into_queue, *_of_sites(scope))
        .group_by(day)
    )
    return {day_of(row.day): row.number for row in connection.execute(query)}


def _ruled(connection: sa.Connection, scope: Scope) -> tuple[RuledCount, ...]:
    steps = enumerate(P_SPAM_EDGES[1:-1])
    last = len(P_SPAM_EDGES) - 2
    in_bin = sa.case(*((comments.c.p_spam < edge, i) for i, edge in steps), else_=last)
    key = (
        utc_day(comments.c.received_at).label("day"),
        comments.c.outcome,
        comments.c.audit,
        decisions.c.ruling,
        in_bin.label("in_bin"),
        sa.and_(verdicts.c.comment_id.is_not(None), comments.c.degraded.is_(False)).label(
            "followed"
        ),
    )
    query = sa.select(
        *key,
        sa.func.count().label("number"),
        sa.func.sum(comments.c.p_spam).label("p_spam_sum"),
    ).group_by(*key)
    ruled = comments.join(decisions, _in_force).outerjoin(verdicts, _has_entry_row)
    decided = query.select_from(ruled).where(*_received(scope), is_decided, has_verdict)
    sample = comments.outerjoin(decisions, _in_force).outerjoin(verdicts, _has_entry_row)
    waiting = query.select_from(sample).where(
        *_received(scope), waits_for_review, _is_confident, comments.c.audit.is_(True)
    )
    return tuple(
        RuledCount(
            day=day_of(row.day),
            outcome=Outcome(row.outcome),
            audit=row.audit,
            ruling=None if row.ruling is None else Ruling(row.ruling),
            in_bin=row.in_bin,
            comments=row.number,
            p_spam_sum=row.p_spam_sum,
            followed=bool(row.followed),
        )
        for row in [*connection.execute(decided), *connection.execute(waiting)]
    )


def _followed(connection: sa.Connection, scope: Scope) -> dict[Outcome, int]:
    # A few ids from an index of their own: a join would look up the verdict of each comment.
    instructed = sa.select(verdicts.c.comment_id).where(verdicts.c.instruction.is_not(None))
    query = (
        sa.select(comments.c.outcome, sa.func.count().label("number"))
        .where(*_received(scope), _is_confident, comments.c.id.in_(instructed))
        .group_by(comments.c.outcome)
    )
    return {Outcome(row.outcome): row.number for row in connection.execute(query)}


def _pairs(connection: sa.Connection, scope: Scope) -> tuple[PairCount, ...]:
    def before(column: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
        """Return what the decision before on the same comment has in this column."""
        lag = sa.func.lag(column)
        return lag.over(partition_by=decisions.c.comment_id, order_by=decisions.c.seq)

    query = sa.select(
        decisions.c.ruling.label("second"),
        decisions.c.decided_by.label("second_by"),
        before(decisions.c.ruling).label("first"),
        before(decisions.c.decided_by).label("first_by"),
    ).where(_within(decisions.c.decided_at, scope), _by_person)
    if scope.site_ids is not None:
        query = query.join(comments, _of_decision).where(*_of_sites(scope))
    one = query.subquery()
    counted = (
        sa.select(one.c.first, one.c.second, sa.func.count().label("number"))
        .where(one.c.first_by != one.c.second_by)
        .group_by(one.c.first, one.c.second)
    )
    return tuple(
        PairCount(first=Ruling(row.first), second=Ruling(row.second), comments=row.number)
        for row in connection.execute(counted)
    )


def _signals(
    connection: sa.Connection, scope: Scope, newest: int
) -> tuple[int, tuple[SignalCount, ...]]:
    some = _newest(scope, newest)
    sampled = connection.execute(sa.select(sa.func.count()).select_from(some)).scalar_one()
    each, of = _each_signal(connection)
    return sampled, _count_signals(connection, some, each, of)


def _newest(scope: Scope, limit: int) -> sa.Subquery:
    """Return the ids of the newest judged comments of the scope, with when they came in."""
    return (
        sa.select(comments.c.id, comments.c.received_at, comments.c.site_id)
        .where(has_verdict, _within(comments.c.received_at, scope), *_of_sites(scope))
        .order_by(comments.c.received_at.desc(), comments.c.id.desc())
        .limit(limit)
        .subquery()
    )


def _each_signal(connection: sa.Connection) -> tuple[sa.FromClause, _Reader]:
    """Return a row for each signal of a verdict, and what reads one value of it."""
    # Both name the column of their rows alike.
    if connection.dialect.name == "postgresql":
        each = sa.func.json_array_elements(verdicts.c.signals).table_valued("value")
        return each, lambda key: each.c.value.op("->>")(key)
    each = sa.func.json_each(verdicts.c.signals).table_valued("value")
    return each, lambda key: sa.func.json_extract(each.c.value, f"$.{key}")


def _leaned(connection: sa.Connection, some: sa.Subquery) -> tuple[Leaned, ...]:
    each, of = _each_signal(connection)
    wanted = (SITE_DECISIONS, HELD_BACK, *SET_WEIGHTS)
    query = (
        sa.select(
            verdicts.c.comment_id,
            utc_day(some.c.received_at).label("day"),
            some.c.site_id,
            verdicts.c.outcome,
            verdicts.c.score,
            verdicts.c.model_version,
            verdicts.c.ham_cutoff,
            verdicts.c.spam_cutoff,
            of("name").label("name"),
            sa.cast(of("strength"), sa.Double).label("strength"),
            sa.cast(of("contribution"), sa.Double).label("contribution"),
            of("kind").label("kind"),
        )
        .select_from(some.join(verdicts, verdicts.c.comment_id == some.c.id).join(each, sa.true()))
        .where(of("name").in_(wanted), verdicts.c.instruction.is_(None))
        .order_by(of("name"))
    )
    by_comment: defaultdict[str, dict[str, sa.Row[Any]]] = defaultdict(dict)
    for row in connection.execute(query):
        by_comment[row.comment_id][row.name] = row
    leaned = [rows for rows in by_comment.values() if SITE_DECISIONS in rows]
    return tuple(
        Leaned(
            day=day_of(row.day),
            site_id=SiteId(row.site_id),
            outcome=Outcome(row.outcome),
            score=row.score,
            lean=row.contribution,
            model_version=row.model_version,
            ham_cutoff=row.ham_cutoff,
            spam_cutoff=row.spam_cutoff,
            beside=tuple(_set_signal(one) for one in rows.values() if _is_beside(one)),
            held_back=rows[HELD_BACK].contribution if HELD_BACK in rows else 0.0,
        )
        for rows in leaned
        for row in [rows[SITE_DECISIONS]]
    )


def _is_beside(row: sa.Row[Any]) -> bool:
    return row.name in SET_WEIGHTS and row.kind in (WeightKind.SET, WeightKind.LEARNT)


def _set_signal(row: sa.Row[Any]) -> SetSignal:
    return SetSignal(
        name=row.name,
        strength=row.strength,
        contribution=row.contribution,
        kind=WeightKind(row.kind),
    )


def _count_signals(
    connection: sa.Connection,
    some: sa.Subquery,
    each: sa.FromClause,
    of: _Reader,
) -> tuple[SignalCount, ...]:
    in_force = sa.and_(
        decisions.c.comment_id == some.c.id, decisions.c.undone_at.is_(None), _by_person
    )
    joined = (
        some.join(verdicts, verdicts.c.comment_id == some.c.id)
        .outerjoin(decisions, in_force)
        .join(each, sa.true())
    )
    fired = (
        sa.select(
            of("name").label("name"),
            decisions.c.ruling.label("ruling"),
            sa.cast(of("contribution"), sa.Double).label("contribution"),
        )
        .select_from(joined)
        .subquery()
    )
    query = sa.select(
        fired.c.name,
        fired.c.ruling,
        sa.func.count().label("number"),
        sa.func.sum(fired.c.contribution).label("contribution_sum"),
    ).group_by(fired.c.name, fired.c.ruling)
    return tuple(
        SignalCount(
            name=row.name,
            ruling=None if row.ruling is None else Ruling(row.ruling),
            fired=row.number,
            contribution_sum=float(row.contribution_sum),
        )
        for row in connection.execute(query)
    )


def _versions(connection: sa.Connection, scope: Scope) -> tuple[VersionCount, ...]:
    key = (utc_day(verdicts.c.judged_at).label("day"), verdicts.c.model_version)
    query = (
        sa.select(*key, sa.func.count().label("number"))
        .where(_within(verdicts.c.judged_at, scope))
        .group_by(*key)
    )
    if scope.site_ids is not None:
        received = _received(scope, scope.since - _LONGEST_UNJUDGED)
        query = query.select_from(comments.join(verdicts, _has_verdict_row)).where(*received)
    return tuple(
        VersionCount(day=day_of(row.day), version=row.model_version, verdicts=row.number)
        for row in connection.execute(query)
    )


def _acts(connection: sa.Connection, scope: Scope, most: int) -> tuple[ActCount, ...]:
    one = (
        sa.select(
            utc_day(decisions.c.decided_at).label("day"),
            decisions.c.decided_by,
            decisions.c.stroke_id.is_not(None).label("in_stroke"),
        )
        .select_from(decisions.join(comments, _of_decision))
        .where(_within(decisions.c.decided_at, scope), *_of_sites(scope))
        .subquery()
    )
    key = (one.c.day, one.c.decided_by, one.c.in_stroke)
    number = sa.func.count().label("number")
    query = sa.select(*key, number).group_by(*key).order_by(number.desc(), *key).limit(most)
    return tuple(
        ActCount(
            day=day_of(row.day),
            decided_by=row.decided_by,
            in_bulk=bool(row.in_stroke),
            decisions=row.number,
        )
        for row in connection.execute(query)
    )


def _timed(connection: sa.Connection, scope: Scope, newest: int) -> tuple[TimedDecision, ...]:
    seconds = decisions.c.seconds
    query = (
        sa.select(decisions.c.decided_by, seconds)
        .select_from(decisions.join(comments, _of_decision))
        .where(_within(decisions.c.decided_at, scope), seconds.is_not(None), *_of_sites(scope))
        .order_by(decisions.c.seq.desc())
        .limit(newest)
    )
    return tuple(
        TimedDecision(decided_by=row.decided_by, seconds=row.seconds)
        for row in connection.execute(query)
    )


def _campaigns(connection: sa.Connection, scope: Scope, most: int) -> tuple[CampaignCount, ...]:
    campaign = comments.c.campaign_id
    # Few comments belong to one: SQLite would read all of the days to find them, if an index on
    # this column could serve.
    received_at = sa.func.coalesce(comments.c.received_at, comments.c.received_at)
    number = sa.func.count().label("number")
    waiting = sa.func.count(sa.case((waits_for_review, 1))).label("waiting")
    query = (
        sa.select(campaign.label("campaign"), number, waiting)
        .where(campaign.is_not(None), _within(received_at, scope), *_of_sites(scope))
        .group_by(campaign)
        .having(number >= FEWEST_SHOWN)
        .order_by(waiting.desc(), number.desc(), campaign)
        .limit(most)
    )
    return tuple(
        CampaignCount(campaign_id=row.campaign, comments=row.number, waiting=row.waiting)
        for row in connection.execute(query)
    )
