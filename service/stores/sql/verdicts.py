"""Keeps verdicts in a SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from service.campaigns.traits import Traits
from service.domain.case import Case
from service.domain.comment import CommentId
from service.domain.delivery import Delivery
from service.domain.verdict import SecondOpinion, Verdict
from service.ports.delivery import Tell
from service.stores.cursor import UNSURE_RANK
from service.stores.sql.base.engine import reading
from service.stores.sql.base.rows import (
    SENDER_COLUMNS,
    Row,
    second_opinion_from,
    settings_from,
    verdict_values,
)
from service.stores.sql.base.statements import chunks
from service.stores.sql.base.store import SqlStore, transaction
from service.stores.sql.campaigns import insert_traits
from service.stores.sql.cases import load_cases
from service.stores.sql.deliveries import insert_of_locked
from service.stores.sql.queue_position import (
    POSITION_COLUMNS,
    place_waiting,
    rank_of,
    review_at_of,
)
from service.stores.sql.schema.tables import (
    comments,
    sites,
    verdicts,
    waits_for_review,
    waits_for_verdict,
)
from service.stores.sql.search import mark_for_index

_has_sender = sa.or_(*(comments.c[f"sender_{name}"].is_not(None) for name in SENDER_COLUMNS))
_is_unsure = sa.and_(waits_for_review, comments.c.review_rank == UNSURE_RANK)


class VerdictStore(SqlStore):
    """Keeps verdicts, one a comment, for good, and a second judge's opinions beside them."""

    @transaction
    def add(
        self,
        tx: sa.Connection,
        verdicts: Sequence[Verdict],
        *,
        audit: frozenset[CommentId],
        deliveries: Sequence[Delivery] = (),
        tell: Tell | None = None,
        traits: Sequence[Traits] = (),
    ) -> list[CommentId]:
        """Store the verdicts of comments that have none yet; return whose were stored.

        Verdicts of comments that are not kept, or were withdrawn, are left out. A comment that
        already has a verdict keeps it untouched. `audit` names the comments that go to a
        moderator as part of the random audit sample. Of `deliveries` those about comments whose
        verdict was stored now are kept in the same transaction, so that none is ever lost, and so
        are their `traits`, to be grouped afterwards; those of a comment whose sender was erased
        since they were made are left out. Of comments that somebody has
        decided or reported by then nothing of `deliveries` is kept, but what `tell` returns.
        """
        first = {verdict.comment_id: verdict for verdict in reversed(verdicts)}
        if not first:
            return []
        positions = _add(tx, first, audit)
        # Few: what was written before their verdicts came does not know of it.
        spoken_of = sorted(key for key, row in positions.items() if row.decided or row.reported_as)
        told = [one for one in deliveries if one.comment_id in positions.keys() - spoken_of]
        if tell and spoken_of:
            told += tell(load_cases(tx, spoken_of))
        insert_of_locked(tx, told)
        insert_traits(tx, [one for one in traits if _may_keep(one, positions)])
        return [key for key in first if key in positions][::-1]

    def next_without_opinion(self, *, most_attempts: int) -> Case | None:
        """Return the unsure comment that a second judge is asked about next, None for none.

        Those with the fewest attempts come first, of these the first in the review queue.
        """
        opinion = comments.c.second_opinion
        attempts = sa.func.coalesce(opinion["attempts"].as_integer(), 0)
        query = (
            sa.select(comments.c.id)
            .where(_is_unsure, opinion["outcome"].as_string().is_(None), attempts < most_attempts)
            .order_by(attempts, comments.c.review_at, comments.c.id)
            .limit(1)
        )
        with reading(self._engine) as connection:
            return next(iter(load_cases(connection, list(connection.scalars(query)))), None)

    @transaction
    def add_opinion(
        self, tx: sa.Connection, comment_id: CommentId, opinion: SecondOpinion | None
    ) -> bool:
        """Count an attempt and keep its opinion, by which the comment moves in the queue.

        Return True if it was kept: not of a comment that is no longer unsure, or that has one.
        """
        is_it = comments.c.id == comment_id
        query = sa.select(comments.c.site_id, comments.c.second_opinion).where(is_it, _is_unsure)
        row = tx.execute(query.with_for_update(key_share=True)).one_or_none()
        if row is None or second_opinion_from(row.second_opinion):
            return False
        values = {"attempts": (row.second_opinion or {}).get("attempts", 0) + 1}
        if opinion is not None:
            values |= {"outcome": opinion.outcome.value, "reason": opinion.reason}
        tx.execute(sa.update(comments).where(is_it).values(second_opinion=values))
        place_waiting(tx, row.site_id, None, 1, is_it)
        return opinion is not None


def _may_keep(traits: Traits, positions: Mapping[CommentId, Row]) -> bool:
    """Return False for traits of a sender who was erased while their comment was judged."""
    row = positions.get(traits.comment_id)
    return row is not None and (row.has_sender or not traits.has_sender)


def _add(
    connection: sa.Connection, new: Mapping[CommentId, Verdict], audit: frozenset[CommentId]
) -> dict[CommentId, Row]:
    """Store verdicts; return how those comments stood whose verdict was stored now."""
    positions: dict[CommentId, Row] = {}
    for some in chunks(sorted(new)):
        # The comment's row is the lock: whoever comes second finds an outcome there.
        query = (
            sa.select(*POSITION_COLUMNS, _has_sender.label("has_sender"), sites.c.settings)
            .join(sites, sites.c.id == comments.c.site_id)
            .where(comments.c.id.in_(some), waits_for_verdict)
            .order_by(comments.c.id)
            .with_for_update(key_share=True, of=comments)
        )
        positions.update((row.id, row) for row in connection.execute(query))
    if not positions:
        return {}
    connection.execute(sa.insert(verdicts), [verdict_values(new[key]) for key in positions])
    connection.execute(
        sa.update(comments)
        .where(comments.c.id == sa.bindparam("judged_id"))
        .values(
            outcome=sa.bindparam("outcome"),
            degraded=sa.bindparam("degraded"),
            p_spam=sa.bindparam("p_spam"),
            audit=sa.bindparam("audit"),
            review_rank=sa.bindparam("review_rank"),
            review_at=sa.bindparam("review_at"),
        ),
        [
            {
                "judged_id": key,
                "outcome": new[key].outcome.value,
                "degraded": new[key].degraded,
                "p_spam": new[key].p_spam,
                "audit": key in audit,
                "review_rank": rank_of(row, outcome=new[key].outcome, audit=key in audit),
                "review_at": review_at_of(
                    row,
                    mode=settings_from(row.settings).mode,
                    outcome=new[key].outcome,
                    p_spam=new[key].p_spam,
                ),
            }
            for key, row in positions.items()
        ],
    )
    mark_for_index(connection, list(positions))
    return positions
