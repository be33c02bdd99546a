"""Keep campaigns and which comments belong to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0009"
down_revision = "m0008"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_INDEXES = (
    ("ix_comment_traits_fresh", "comment_traits", ["seq"], "grouped_at IS NULL"),
    (
        "ix_comment_traits_left",
        "comment_traits",
        ["left_campaign_id"],
        "left_campaign_id IS NOT NULL",
    ),
    (
        "ix_comments_campaign",
        "comments",
        ["campaign_id", "received_at", "id", "site_id", "post_url"],
        "campaign_id IS NOT NULL",
    ),
    (
        "ix_comments_campaign_waiting",
        "comments",
        ["campaign_id", "received_at", "id", "site_id", "review_rank"],
        "campaign_id IS NOT NULL AND review_rank < 2",
    ),
)


def upgrade() -> None:
    """Apply the change."""
    op.add_column("comments", sa.Column("campaign_id", _TEXT))
    op.create_table(
        "comment_traits",
        sa.Column("seq", _SEQUENCE, autoincrement=True),
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("embedding", sa.LargeBinary()),
        sa.Column("space", _TEXT, nullable=False),
        sa.Column("targets", sa.JSON(), nullable=False),
        sa.Column("copies", sa.JSON(), nullable=False),
        sa.Column("grouped_at", _MOMENT),
        sa.Column("left_campaign_id", _TEXT),
        sa.PrimaryKeyConstraint("seq", name="pk_comment_traits"),
        sa.ForeignKeyConstraint(
            ["comment_id"], ["comments.id"], name="fk_comment_traits_comment_id"
        ),
        sa.UniqueConstraint("comment_id", name="uq_comment_traits_comment_id"),
    )
    op.create_table(
        "campaigns",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("last_seen_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
    )
    op.create_table(
        "grouping_lease",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("holder", _TEXT, nullable=False),
        sa.Column("until", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_grouping_lease"),
    )
    for name, table, columns, where in _INDEXES:
        condition = sa.text(where)
        op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def downgrade() -> None:
    """Take the change back."""
    for name, table, *_ in reversed(_INDEXES):
        op.drop_index(name, table)
    op.drop_table("grouping_lease")
    op.drop_table("campaigns")
    op.drop_table("comment_traits")
    op.drop_column("comments", "campaign_id")
