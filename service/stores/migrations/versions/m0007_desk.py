"""Order the review queue by what waiting costs, and let moderators claim comments."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from service.domain.decision import Mode
from service.domain.report import Label
from service.domain.verdict import Outcome
from service.scoring.review_order import review_at
from service.stores.sql.base.types import UtcDateTime

revision = "m0007"
down_revision = "m0006"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_BATCH = 1_000
_WAITING = "review_rank < 2"


def upgrade() -> None:
    """Apply the change."""
    op.add_column("comments", sa.Column("review_at", _MOMENT))
    op.execute("UPDATE comments SET review_at = received_at")
    _give_head_starts()
    _index_queue("review_at")
    _partial_index("ix_comments_waiting_newest", ["received_at", "id"])
    op.create_table(
        "claims",
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("user_name", _TEXT, nullable=False),
        sa.Column("since", _MOMENT, nullable=False),
        sa.Column("until", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("comment_id", name="pk_claims"),
    )
    op.create_index("ix_claims_user_id", "claims", ["user_id"])


def downgrade() -> None:
    """Take the change back."""
    op.drop_table("claims")
    op.drop_index("ix_comments_waiting_newest", "comments")
    _index_queue("received_at")
    op.drop_column("comments", "review_at")


def _give_head_starts() -> None:
    """Place what was judged before as the running program places it, hence by its own function."""
    connection = op.get_bind()
    comments: Any = sa.table(
        "comments",
        *(sa.column(name) for name in ("id", "site_id", "reported_as")),
        sa.column("received_at", UtcDateTime()),
        sa.column("review_at", UtcDateTime()),
    )
    verdicts: Any = sa.table(
        "verdicts", *(sa.column(name) for name in ("comment_id", "outcome", "p_spam"))
    )
    modes = _modes(connection)
    fill = (
        sa.update(comments)
        .where(comments.c.id == sa.bindparam("comment_id"))
        .values(review_at=sa.bindparam("at"))
    )
    batch = (
        sa.select(comments, verdicts.c.outcome, verdicts.c.p_spam)
        .join(verdicts, verdicts.c.comment_id == comments.c.id)
        .order_by(comments.c.id)
        .limit(_BATCH)
    )
    found = connection.execute(batch).all()
    while found:
        places = [
            {
                "comment_id": row.id,
                "at": review_at(
                    row.received_at,
                    mode=modes[row.site_id],
                    outcome=Outcome(row.outcome),
                    p_spam=row.p_spam,
                    reported_as=Label(row.reported_as) if row.reported_as else None,
                ),
            }
            for row in found
        ]
        connection.execute(fill, places)
        found = connection.execute(batch.where(comments.c.id > found[-1].id)).all()


def _modes(connection: sa.Connection) -> dict[str, Mode]:
    rows = connection.execute(sa.text("SELECT id, settings FROM sites"))
    read = {
        row.id: json.loads(row.settings) if isinstance(row.settings, str) else row.settings
        for row in rows
    }
    return {site_id: Mode(settings.get("mode", "hold")) for site_id, settings in read.items()}


def _index_queue(by: str) -> None:
    for name, first in (
        ("ix_comments_review", ["review_rank"]),
        ("ix_comments_site_review", ["site_id", "review_rank"]),
    ):
        op.drop_index(name, "comments")
        _partial_index(name, [*first, by, "id"])


def _partial_index(name: str, columns: list[str]) -> None:
    where = sa.text(_WAITING)
    op.create_index(name, "comments", columns, sqlite_where=where, postgresql_where=where)
