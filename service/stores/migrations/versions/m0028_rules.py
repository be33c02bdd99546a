"""Keep which rules of a site held a comment, and when its post was published."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0028"
down_revision = "m0027"
branch_labels = None
depends_on = None

_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.add_column("comments", sa.Column("post_published_at", _MOMENT))
    op.add_column("verdicts", sa.Column("held_by", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    """Take the change back. What rules held stays unsure."""
    op.drop_column("verdicts", "held_by")
    op.drop_column("comments", "post_published_at")
