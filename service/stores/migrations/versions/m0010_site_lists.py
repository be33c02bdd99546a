"""Keep what moderators allow and block, and with each verdict the entry that it followed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0010"
down_revision = "m0009"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "list_entries",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT),
        sa.Column("effect", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("label", _TEXT, nullable=False),
        sa.Column("keys", sa.JSON(), nullable=False),
        sa.Column("reason", _TEXT, nullable=False),
        sa.Column("added_by", _TEXT, nullable=False),
        sa.Column("added_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT),
        sa.Column("removed_at", _MOMENT),
        sa.Column("removed_by", _TEXT),
        sa.Column("comment_id", _TEXT),
        sa.Column("hits", sa.BigInteger(), nullable=False),
        sa.Column("last_hit_at", _MOMENT),
        sa.Column("folded", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_list_entries"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_list_entries_site_id"),
    )
    op.create_index("ix_list_entries_newest", "list_entries", ["added_at", "id"])
    op.create_table(
        "list_version",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_list_version"),
    )
    op.add_column("verdicts", sa.Column("instruction", sa.JSON()))
    followed = sa.text("instruction IS NOT NULL")
    op.create_index(
        "ix_verdicts_instructed",
        "verdicts",
        ["comment_id"],
        sqlite_where=followed,
        postgresql_where=followed,
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("ix_verdicts_instructed", "verdicts")
    op.drop_column("verdicts", "instruction")
    op.drop_table("list_version")
    op.drop_table("list_entries")
