"""Keeps claims in a SQL database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from service.domain.case import Claim
from service.domain.comment import CommentId
from service.stores.sql.base.engine import reading
from service.stores.sql.base.mapping import reader, writer
from service.stores.sql.base.statements import rows_in, upsert
from service.stores.sql.base.store import SqlStore, transaction
from service.stores.sql.schema.tables import claims, users

_claim_values, _claim_from = writer(Claim), reader(Claim)


class ClaimStore(SqlStore):
    """Keeps which moderator looks at which comment: at most one a comment, one a moderator."""

    @transaction
    def take(self, tx: sa.Connection, claim: Claim) -> Claim:
        """Claim a comment as of `claim.since` and return the claim that is in force now.

        Somebody else's is left alone and returned as long as it holds. One's own is renewed: it
        keeps its `since`, unless it ran out before. Whatever else this moderator had claimed is
        claimed no more. Of two who claim at once one gets it.
        """
        # Two tabs of one moderator take turns: each ends what the other has taken.
        tx.execute(
            sa.select(users.c.id).where(users.c.id == claim.user_id).with_for_update(key_share=True)
        )
        tx.execute(
            sa.delete(claims).where(
                claims.c.user_id == claim.user_id, claims.c.comment_id != claim.comment_id
            )
        )
        new = upsert(tx, claims).values(_claim_values(claim))
        is_own = claims.c.user_id == new.excluded.user_id
        is_over = claims.c.until <= new.excluded.since
        taken = new.on_conflict_do_update(
            index_elements=[claims.c.comment_id],
            set_={
                "user_id": new.excluded.user_id,
                "user_name": new.excluded.user_name,
                "since": sa.case((is_over, new.excluded.since), else_=claims.c.since),
                "until": new.excluded.until,
            },
            where=sa.or_(is_own, is_over),
        ).returning(*claims.c)
        row = tx.execute(taken).one_or_none()
        if row is None:
            held = sa.select(claims).where(claims.c.comment_id == claim.comment_id)
            row = tx.execute(held).one_or_none()
        # Whoever had it may have ended it between the two statements; the page's script asks again.
        return claim if row is None else _claim_from(row)

    def end(self, comment_id: CommentId, *, user_id: str | None = None) -> None:
        """End the claim on a comment, anybody's or this moderator's; harmless if there is none."""
        ended = sa.delete(claims).where(claims.c.comment_id == comment_id)
        if user_id is not None:
            ended = ended.where(claims.c.user_id == user_id)
        self.write(lambda connection: connection.execute(ended))

    def find(self, ids: Sequence[CommentId], *, now: datetime) -> Mapping[CommentId, Claim]:
        """Return the claims on these comments that hold now."""
        query = sa.select(claims).where(claims.c.until > now)
        with reading(self._engine) as connection:
            rows = rows_in(connection, query, claims.c.comment_id, ids)
            return {row.comment_id: _claim_from(row) for row in rows}
