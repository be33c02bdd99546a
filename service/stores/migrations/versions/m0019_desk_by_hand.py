"""Keep what is put aside, what of a scanned screen is looked at alone, notes on senders."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0019"
down_revision = "m0018"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "asides",
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("by", _TEXT, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("until", _MOMENT, nullable=False),
        sa.Column("user_id", _TEXT),
        sa.Column("note", _TEXT),
        sa.PrimaryKeyConstraint("comment_id", name="pk_asides"),
        sa.ForeignKeyConstraint(
            ["comment_id"], ["comments.id"], name="fk_asides_comment_id_comments"
        ),
    )
    op.create_index("ix_asides_until", "asides", ["until"])
    op.create_table(
        "scan_checks",
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("stroke_id", _TEXT, nullable=False),
        sa.Column("ruling", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("comment_id", name="pk_scan_checks"),
        sa.ForeignKeyConstraint(
            ["comment_id"], ["comments.id"], name="fk_scan_checks_comment_id_comments"
        ),
        sa.ForeignKeyConstraint(
            ["stroke_id"], ["strokes.id"], name="fk_scan_checks_stroke_id_strokes"
        ),
    )
    op.create_index("ix_scan_checks_stroke_id", "scan_checks", ["stroke_id"])
    op.create_table(
        "sender_notes",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("key", _TEXT, nullable=False),
        sa.Column("text", _TEXT, nullable=False),
        sa.Column("by", _TEXT, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("removed_at", _MOMENT),
        sa.Column("removed_by", _TEXT),
        sa.PrimaryKeyConstraint("id", name="pk_sender_notes"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_sender_notes_site_id_sites"),
    )
    op.create_index("ix_sender_notes_key", "sender_notes", ["key"])


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("ix_sender_notes_key", "sender_notes")
    op.drop_table("sender_notes")
    op.drop_index("ix_scan_checks_stroke_id", "scan_checks")
    op.drop_table("scan_checks")
    op.drop_index("ix_asides_until", "asides")
    op.drop_table("asides")
