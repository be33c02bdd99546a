"""Keeps shadow verdicts of other model versions in a SQL database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import CommentId
from service.domain.decision import Ruling
from service.domain.shadow_verdict import (
    HARMS,
    Disagreement,
    DisagreementPage,
    Harm,
    Origin,
    ShadowVerdict,
    ShadowVerdictCell,
    ShadowVerdictCounts,
    ShadowVerdictScope,
)
from service.domain.verdict import Outcome
from service.stores.shadow_verdict_cursor import place_of, read_place, write_place
from service.stores.sql.base.engine import reading, write
from service.stores.sql.base.rows import Row
from service.stores.sql.base.statements import chunks, insert_if_free
from service.stores.sql.schema.shadow_verdicts import differs, opinions
from service.stores.sql.schema.tables import (
    comments,
    decisions,
    is_kept_and_judged,
    verdicts,
)

_of_comment = comments.c.id == opinions.c.comment_id
_is_in_force = sa.and_(decisions.c.undone_at.is_(None), decisions.c.decided_by != CAMPAIGN_POLICY)
_of_shadow_verdict = decisions.c.comment_id == opinions.c.comment_id


class SqlShadowVerdictStore:
    """Keeps shadow verdicts in a SQL database; see `ShadowVerdictStore`."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def add(self, opinions: Sequence[ShadowVerdict]) -> None:
        """See `ShadowVerdictStore.add`."""
        if opinions:
            write(self._engine, lambda connection: _add(connection, opinions))

    def versions(self) -> Sequence[str]:
        """See `ShadowVerdictStore.versions`."""
        version = opinions.c.model_version
        query = (
            sa.select(version)
            .group_by(version)
            .order_by(sa.func.max(opinions.c.formed_at).desc(), version)
        )
        with reading(self._engine) as connection:
            return list(connection.scalars(query))

    def count(self, scope: ShadowVerdictScope) -> ShadowVerdictCounts:
        """See `ShadowVerdictStore.count`."""
        with reading(self._engine) as connection:
            shadowed, judged = _seen(connection, scope)
            return ShadowVerdictCounts(
                cells=_cells(connection, scope), shadowed=shadowed, judged=judged
            )

    def disagreements(
        self, scope: ShadowVerdictScope, *, cursor: str | None, limit: int
    ) -> DisagreementPage:
        """See `ShadowVerdictStore.disagreements`."""
        with reading(self._engine) as connection:
            rows = connection.execute(_differing(scope, cursor).limit(limit + 1)).all()
        found = [_disagreement(row) for row in rows[:limit]]
        more = len(rows) > limit
        return DisagreementPage(
            disagreements=tuple(found),
            next_cursor=write_place(place_of(found[-1])) if more else None,
        )

    def prune(self, *, formed_before: datetime, limit: int) -> int:
        """See `ShadowVerdictStore.prune`."""
        key = (opinions.c.comment_id, opinions.c.model_version)
        old = (
            sa.select(*key)
            .where(opinions.c.formed_at < formed_before)
            .order_by(opinions.c.formed_at)
            .limit(limit)
        )
        gone = sa.delete(opinions).where(sa.tuple_(*key).in_(old))
        return write(self._engine, lambda connection: connection.execute(gone).rowcount)


def drop_shadow_verdicts(connection: sa.Connection, ids: Sequence[CommentId]) -> None:
    """Delete all shadow verdicts of these comments within a transaction."""
    for some in chunks(ids):
        connection.execute(sa.delete(opinions).where(opinions.c.comment_id.in_(some)))


def _add(connection: sa.Connection, new: Sequence[ShadowVerdict]) -> None:
    known: dict[CommentId, Row] = {}
    judged = comments.join(verdicts, verdicts.c.comment_id == comments.c.id)
    for some in chunks(sorted({one.comment_id for one in new})):
        # Locked, so that none is kept of a comment that is being withdrawn.
        query = (
            sa.select(
                comments.c.id,
                comments.c.site_id,
                comments.c.received_at,
                comments.c.outcome,
                verdicts.c.judged_at,
            )
            .select_from(judged)
            .where(comments.c.id.in_(some), is_kept_and_judged)
            .order_by(comments.c.id)
            .with_for_update(key_share=True, of=comments)
        )
        known.update((row.id, row) for row in connection.execute(query))
    rows = [
        {
            "comment_id": one.comment_id,
            "model_version": one.model_version,
            "origin": one.origin.value,
            "outcome": one.outcome.value,
            "p_spam": one.p_spam,
            "formed_at": one.formed_at,
            "site_id": row.site_id,
            "received_at": row.received_at,
            "judged_at": row.judged_at,
            "verdict": row.outcome,
            "differs": one.outcome.value != row.outcome,
        }
        for one in sorted(new, key=lambda one: (one.comment_id, one.model_version))
        if (row := known.get(one.comment_id)) is not None
    ]
    if rows:
        connection.execute(insert_if_free(connection, opinions), rows)


def _within(scope: ShadowVerdictScope) -> list[sa.ColumnElement[bool]]:
    conditions = [opinions.c.model_version == scope.model_version, *_of_sites(scope)]
    if scope.since is not None:
        conditions.append(opinions.c.received_at >= scope.since)
    if scope.until is not None:
        conditions.append(opinions.c.received_at < scope.until)
    return conditions


def _of_sites(scope: ShadowVerdictScope) -> list[sa.ColumnElement[bool]]:
    return [] if scope.site_ids is None else [opinions.c.site_id.in_(scope.site_ids)]


def _cells(connection: sa.Connection, scope: ShadowVerdictScope) -> tuple[ShadowVerdictCell, ...]:
    """Count all from one index, then those that were ruled on, which are few; the rest was not."""
    key = (opinions.c.verdict, opinions.c.outcome)
    number = sa.func.count().label("number")
    every = sa.select(*key, number).where(*_within(scope)).group_by(*key)
    ruled = (
        sa.select(*key, decisions.c.ruling, number)
        .select_from(decisions.join(opinions, _of_shadow_verdict))
        .where(_is_in_force, *_within(scope))
        .group_by(*key, decisions.c.ruling)
    )
    left = {(row.verdict, row.outcome): row.number for row in connection.execute(every)}
    counted: dict[tuple[str, str, str | None], int] = {}
    for row in connection.execute(ruled):
        counted[row.verdict, row.outcome, row.ruling] = row.number
        left[row.verdict, row.outcome] -= row.number
    counted |= {(*pair, None): rest for pair, rest in left.items() if rest}
    return tuple(
        ShadowVerdictCell(
            verdict=Outcome(verdict),
            shadow_verdict=Outcome(shadow_verdict),
            ruling=_ruling(ruling),
            comments=n,
        )
        for (verdict, shadow_verdict, ruling), n in counted.items()
    )


def _seen(connection: sa.Connection, scope: ShadowVerdictScope) -> tuple[int, int]:
    """Return how many comments the shadow saw, and how many were judged meanwhile."""
    shadowed = connection.execute(
        sa.select(
            sa.func.count().label("number"),
            sa.func.min(opinions.c.judged_at).label("first"),
            sa.func.max(opinions.c.judged_at).label("last"),
        ).where(
            opinions.c.model_version == scope.model_version,
            opinions.c.origin == Origin.SHADOW.value,
            *_of_sites(scope),
        )
    ).one()
    if not shadowed.number:
        return 0, 0
    # Verdicts of comments that were withdrawn since count as well: they are few, and to leave them
    # out would mean to read every comment.
    judged = (
        sa.select(sa.func.count())
        .select_from(verdicts)
        .where(
            verdicts.c.judged_at.between(shadowed.first, shadowed.last),
            verdicts.c.model_version != scope.model_version,
        )
    )
    if scope.site_ids is not None:
        of_site = comments.c.site_id.in_(scope.site_ids)
        judged = judged.join(comments, comments.c.id == verdicts.c.comment_id).where(of_site)
    return shadowed.number, connection.execute(judged).scalar_one()


def _differing(scope: ShadowVerdictScope, cursor: str | None) -> sa.Select[Any]:
    verdict, shadow_verdict, ruling = opinions.c.verdict, opinions.c.outcome, decisions.c.ruling
    no_ruling = ruling.is_(None)
    calls_spam, calls_ham = (
        shadow_verdict == Outcome.SPAM.value,
        shadow_verdict == Outcome.HAM.value,
    )
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
            shadow_verdict,
            verdict,
            comments.c.p_spam.label("verdict_p_spam"),
            ruling,
        )
        .select_from(
            opinions.join(comments, _of_comment).outerjoin(
                decisions, sa.and_(_of_shadow_verdict, _is_in_force)
            )
        )
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
        shadow_verdict=Outcome(row.outcome),
        p_spam=row.p_spam,
        ruling=_ruling(row.ruling),
    )


def _ruling(value: str | None) -> Ruling | None:
    return None if value is None else Ruling(value)
