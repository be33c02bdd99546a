"""Keeps opinions of other model versions in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.opinion import (
    HARMS,
    Disagreement,
    DisagreementPage,
    Harm,
    Opinion,
    OpinionCell,
    OpinionCounts,
    OpinionScope,
    Origin,
)
from service.domain.verdict import Outcome
from service.stores.opinion_cursor import place_of, read_place, write_place
from service.stores.sql.engine import reading, write
from service.stores.sql.rows import Row
from service.stores.sql.schema import comments, decisions, is_kept_and_judged, verdicts
from service.stores.sql.schema_opinions import differs, opinions
from service.stores.sql.statements import chunks, insert_if_free

_of_comment = comments.c.id == opinions.c.comment_id
_ruled = sa.and_(
    decisions.c.comment_id == opinions.c.comment_id,
    decisions.c.undone_at.is_(None),
    decisions.c.decided_by != CAMPAIGN_POLICY,
)
_joined = opinions.join(comments, _of_comment).outerjoin(decisions, _ruled)


class SqlOpinionStore:
    """Keeps opinions in a SQL database; see `OpinionStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, opinions: Sequence[Opinion]) -> None:
        """See `OpinionStore.add`."""
        if opinions:
            write(self._engine, lambda connection: _add(connection, opinions))

    def versions(self) -> Sequence[str]:
        """See `OpinionStore.versions`."""
        version = opinions.c.model_version
        query = (
            sa.select(version)
            .group_by(version)
            .order_by(sa.func.max(opinions.c.formed_at).desc(), version)
        )
        with reading(self._engine) as connection:
            return list(connection.scalars(query))

    def count(self, scope: OpinionScope) -> OpinionCounts:
        """See `OpinionStore.count`."""
        with reading(self._engine) as connection:
            shadowed, judged = _seen(connection, scope)
            return OpinionCounts(cells=_cells(connection, scope), shadowed=shadowed, judged=judged)

    def disagreements(
        self, scope: OpinionScope, *, cursor: str | None, limit: int
    ) -> DisagreementPage:
        """See `OpinionStore.disagreements`."""
        with reading(self._engine) as connection:
            rows = connection.execute(_differing(scope, cursor).limit(limit + 1)).all()
        found = [_disagreement(row) for row in rows[:limit]]
        more = len(rows) > limit
        return DisagreementPage(
            disagreements=tuple(found),
            next_cursor=write_place(place_of(found[-1])) if more else None,
        )

    def prune(self, *, formed_before: datetime, limit: int) -> int:
        """See `OpinionStore.prune`."""
        key = (opinions.c.comment_id, opinions.c.model_version)
        old = (
            sa.select(*key)
            .where(opinions.c.formed_at < formed_before)
            .order_by(opinions.c.formed_at)
            .limit(limit)
        )
        gone = sa.delete(opinions).where(sa.tuple_(*key).in_(old))
        return write(self._engine, lambda connection: connection.execute(gone).rowcount)


def drop_opinions(connection: sa.Connection, comment_id: CommentId) -> None:
    """Delete all opinions of a comment within a transaction."""
    connection.execute(sa.delete(opinions).where(opinions.c.comment_id == comment_id))


def _add(connection: sa.Connection, new: Sequence[Opinion]) -> None:
    outcomes: dict[CommentId, str] = {}
    for some in chunks(sorted({one.comment_id for one in new})):
        # Locked, so that none is kept of a comment that is being withdrawn.
        query = (
            sa.select(comments.c.id, comments.c.outcome)
            .where(comments.c.id.in_(some), is_kept_and_judged)
            .order_by(comments.c.id)
            .with_for_update(key_share=True)
        )
        outcomes.update((row.id, row.outcome) for row in connection.execute(query))
    rows = [
        {
            "comment_id": one.comment_id,
            "model_version": one.model_version,
            "origin": one.origin.value,
            "outcome": one.outcome.value,
            "p_spam": one.p_spam,
            "formed_at": one.formed_at,
            "differs": one.outcome.value != outcomes[one.comment_id],
        }
        for one in sorted(new, key=lambda one: (one.comment_id, one.model_version))
        if one.comment_id in outcomes
    ]
    if rows:
        connection.execute(insert_if_free(connection, opinions), rows)


def _within(scope: OpinionScope) -> list[sa.ColumnElement[bool]]:
    conditions = [opinions.c.model_version == scope.model_version, *_of_sites(scope)]
    if scope.since is not None:
        conditions.append(comments.c.received_at >= scope.since)
    if scope.until is not None:
        conditions.append(comments.c.received_at < scope.until)
    return conditions


def _of_sites(scope: OpinionScope) -> list[sa.ColumnElement[bool]]:
    return [] if scope.site_ids is None else [comments.c.site_id.in_(scope.site_ids)]


def _cells(connection: sa.Connection, scope: OpinionScope) -> tuple[OpinionCell, ...]:
    key = (comments.c.outcome.label("verdict"), opinions.c.outcome, decisions.c.ruling)
    query = (
        sa.select(*key, sa.func.count().label("number"))
        .select_from(_joined)
        .where(*_within(scope))
        .group_by(*key)
    )
    return tuple(
        OpinionCell(
            verdict=Outcome(row.verdict),
            opinion=Outcome(row.outcome),
            ruling=_ruling(row.ruling),
            comments=row.number,
        )
        for row in connection.execute(query)
    )


def _seen(connection: sa.Connection, scope: OpinionScope) -> tuple[int, int]:
    """Return how many comments the shadow saw, and how many were judged meanwhile."""
    judged_at = verdicts.c.judged_at
    shadowed = connection.execute(
        sa.select(
            sa.func.count().label("number"),
            sa.func.min(judged_at).label("first"),
            sa.func.max(judged_at).label("last"),
        )
        .select_from(
            opinions.join(verdicts, verdicts.c.comment_id == opinions.c.comment_id).join(
                comments, _of_comment
            )
        )
        .where(
            opinions.c.model_version == scope.model_version,
            opinions.c.origin == Origin.SHADOW.value,
            *_of_sites(scope),
        )
    ).one()
    if not shadowed.number:
        return 0, 0
    judged = connection.execute(
        sa.select(sa.func.count())
        .select_from(verdicts.join(comments, comments.c.id == verdicts.c.comment_id))
        .where(
            judged_at.between(shadowed.first, shadowed.last),
            verdicts.c.model_version != scope.model_version,
            comments.c.withdrawn_at.is_(None),
            *_of_sites(scope),
        )
    ).scalar_one()
    return shadowed.number, judged


def _differing(scope: OpinionScope, cursor: str | None) -> sa.Select[Any]:
    verdict, opinion, ruling = comments.c.outcome, opinions.c.outcome, decisions.c.ruling
    no_ruling = ruling.is_(None)
    calls_spam, calls_ham = opinion == Outcome.SPAM.value, opinion == Outcome.HAM.value
    # As `harm_of` has it.
    steps = {
        Harm.APPROVED_CALLED_SPAM: sa.and_(calls_spam, ruling == Ruling.APPROVE.value),
        Harm.HAM_CALLED_SPAM: sa.and_(calls_spam, no_ruling, verdict == Outcome.HAM.value),
        Harm.REJECTED_CALLED_HAM: sa.and_(calls_ham, ruling == Ruling.REJECT.value),
        Harm.SPAM_CALLED_HAM: sa.and_(calls_ham, no_ruling, verdict == Outcome.SPAM.value),
    }
    rank = sa.case(
        *((condition, HARMS.index(harm)) for harm, condition in steps.items()),
        else_=HARMS.index(Harm.OTHER),
    )
    nearness = -sa.func.abs(opinions.c.p_spam - comments.c.p_spam)
    query = (
        sa.select(
            opinions.c.comment_id,
            opinions.c.p_spam,
            opinion,
            verdict.label("verdict"),
            comments.c.p_spam.label("verdict_p_spam"),
            ruling,
        )
        .select_from(_joined)
        .where(differs, *_within(scope))
        .order_by(rank, nearness, opinions.c.comment_id)
    )
    if cursor is None:
        return query
    last_rank, last_nearness, last_id = read_place(cursor)
    place = sa.tuple_(rank, nearness, opinions.c.comment_id)
    literals = (
        sa.literal(last_rank, sa.Integer),
        sa.literal(last_nearness, sa.Double),
        sa.literal(last_id, opinions.c.comment_id.type),
    )
    return query.where(place > sa.tuple_(*literals))


def _disagreement(row: Row) -> Disagreement:
    return Disagreement(
        comment_id=row.comment_id,
        verdict=Outcome(row.verdict),
        verdict_p_spam=row.verdict_p_spam,
        opinion=Outcome(row.outcome),
        p_spam=row.p_spam,
        ruling=_ruling(row.ruling),
    )


def _ruling(value: str | None) -> Ruling | None:
    return None if value is None else Ruling(value)
