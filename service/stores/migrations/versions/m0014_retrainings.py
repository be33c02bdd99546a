"""Keep which retrainings there were, and who alone may run one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0014"
down_revision = "m0013"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "retrainings",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("asked_by", _TEXT, nullable=False),
        sa.Column("asked_at", _MOMENT, nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("started_at", _MOMENT),
        sa.Column("seen_at", _MOMENT),
        sa.Column("ended_at", _MOMENT),
        sa.Column("step", _TEXT, nullable=False),
        sa.Column("share_done", sa.Float(), nullable=False),
        sa.Column("seconds_left", sa.Float()),
        sa.Column("decisions", sa.BigInteger(), nullable=False),
        sa.Column("decisions_sha256", _TEXT, nullable=False),
        sa.Column("version", _TEXT),
        sa.Column("recommendation", _TEXT),
        sa.Column("summary", sa.JSON()),
        sa.Column("problem", _TEXT),
        sa.Column("answer", _TEXT),
        sa.Column("answered_by", _TEXT),
        sa.Column("answered_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_retrainings"),
    )
    op.create_index("ix_retrainings_asked_at", "retrainings", ["asked_at"])
    op.create_table(
        "retraining_lease",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("holder", _TEXT, nullable=False),
        sa.Column("until", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_retraining_lease"),
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_table("retraining_lease")
    op.drop_index("ix_retrainings_asked_at", "retrainings")
    op.drop_table("retrainings")
