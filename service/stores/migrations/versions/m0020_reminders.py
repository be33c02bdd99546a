"""Keep which moderator was reminded of which crossing of a threshold."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0020"
down_revision = "m0019"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "reminders",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("channel", _TEXT, nullable=False),
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("occasion", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", _MOMENT),
        sa.Column("ended_at", _MOMENT),
        sa.Column("problem", _TEXT),
        sa.Column("over_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_reminders"),
    )
    op.create_index("ix_reminders_created_at", "reminders", ["created_at"])
    op.create_index(
        "ix_reminders_in_force",
        "reminders",
        ["channel", "user_id", "occasion"],
        unique=True,
        sqlite_where=sa.text("over_at IS NULL"),
        postgresql_where=sa.text("over_at IS NULL"),
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("ix_reminders_in_force", "reminders")
    op.drop_index("ix_reminders_created_at", "reminders")
    op.drop_table("reminders")
