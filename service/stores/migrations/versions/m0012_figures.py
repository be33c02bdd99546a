"""An index for the figures: which model version judged how many comments on which day."""

from __future__ import annotations

from alembic import op

revision = "m0012"
down_revision = "m0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the index."""
    op.create_index("ix_verdicts_judged", "verdicts", ["judged_at", "model_version"])


def downgrade() -> None:
    """Take the index away."""
    op.drop_index("ix_verdicts_judged", table_name="verdicts")
