"""Keep what a second judge thinks of unsure comments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0030"
down_revision = "m0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the change."""
    op.add_column("comments", sa.Column("second_opinion", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    """Take the change back."""
    op.drop_column("comments", "second_opinion")
