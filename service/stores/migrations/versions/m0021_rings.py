"""Keep what senders share with others, and which of them belong to one ring."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0021"
down_revision = "m0020"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_PARTIAL = (
    ("ix_ring_acts_ring", ["ring_id", "comment_id", "who"], "ring_id IS NOT NULL"),
    ("ix_ring_acts_left", ["left_ring_id", "who"], "left_ring_id IS NOT NULL"),
)


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "ring_acts",
        sa.Column("seq", _SEQUENCE, autoincrement=True),
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("who", _TEXT, nullable=False),
        sa.Column("ties", sa.JSON(), nullable=False),
        sa.Column("ring_id", _TEXT),
        sa.Column("left_ring_id", _TEXT),
        sa.PrimaryKeyConstraint("seq", name="pk_ring_acts"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_ring_acts_comment_id"),
        sa.UniqueConstraint("comment_id", name="uq_ring_acts_comment_id"),
    )
    op.create_table(
        "rings",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("ties", sa.JSON(), nullable=False),
        sa.Column("last_seen_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rings"),
    )
    op.create_index("ix_ring_acts_who", "ring_acts", ["who", "ring_id"])
    for name, columns, where in _PARTIAL:
        condition = sa.text(where)
        op.create_index(
            name, "ring_acts", columns, sqlite_where=condition, postgresql_where=condition
        )


def downgrade() -> None:
    """Take the change back."""
    op.drop_table("rings")
    op.drop_table("ring_acts")
