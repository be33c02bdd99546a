"""Keep what was done in one stroke together, and when sites are to be told."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0008"
down_revision = "m0007"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "strokes",
        sa.Column("seq", _SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("what", _TEXT, nullable=False),
        sa.Column("ruling", _TEXT, nullable=False),
        sa.Column("decided_by", _TEXT, nullable=False),
        sa.Column("decided_at", _MOMENT, nullable=False),
        sa.Column("n_decided", sa.BigInteger(), nullable=False),
        sa.Column("n_left_out", sa.BigInteger(), nullable=False),
        sa.Column("undone_at", _MOMENT),
        sa.Column("undone_by", _TEXT),
        sa.PrimaryKeyConstraint("seq", name="pk_strokes"),
        sa.UniqueConstraint("id", name="uq_strokes_id"),
    )
    op.create_table(
        "stroke_sites",
        sa.Column("stroke_id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("stroke_id", "site_id", name="pk_stroke_sites"),
        sa.ForeignKeyConstraint(["stroke_id"], ["strokes.id"], name="fk_stroke_sites_stroke_id"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_stroke_sites_site_id"),
    )
    op.add_column("decisions", sa.Column("stroke_id", _TEXT))
    op.add_column("decisions", sa.Column("seconds", sa.Double()))
    _index("ix_decisions_stroke", "decisions", ["stroke_id", "seq"], _OF_STROKE)
    op.add_column("deliveries", sa.Column("decision_id", _TEXT))
    op.add_column(
        "deliveries",
        sa.Column("corrects_told", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    _index("ix_deliveries_decision", "deliveries", ["decision_id"], "decision_id IS NOT NULL")
    op.add_column("comments", sa.Column("p_spam", sa.Double()))
    op.execute(
        "UPDATE comments SET p_spam = "
        "(SELECT verdicts.p_spam FROM verdicts WHERE verdicts.comment_id = comments.id) "
        "WHERE outcome IS NOT NULL"
    )
    _index(
        "ix_comments_site_p_spam",
        "comments",
        ["site_id", "received_at", "p_spam", "outcome", "degraded", "decided", "id"],
        "p_spam IS NOT NULL",
    )


def downgrade() -> None:
    """Take the change back; what was decided in strokes stays decided."""
    op.drop_index("ix_comments_site_p_spam", "comments")
    op.drop_column("comments", "p_spam")
    op.drop_index("ix_deliveries_decision", "deliveries")
    op.drop_column("deliveries", "corrects_told")
    op.drop_column("deliveries", "decision_id")
    op.drop_index("ix_decisions_stroke", "decisions")
    op.drop_column("decisions", "seconds")
    op.drop_column("decisions", "stroke_id")
    op.drop_table("stroke_sites")
    op.drop_table("strokes")


_OF_STROKE = "stroke_id IS NOT NULL AND undone_at IS NULL"


def _index(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
