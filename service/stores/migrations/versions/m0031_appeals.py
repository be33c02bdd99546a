"""Keep what an author says against a comment's being held or rejected."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0031"
down_revision = "m0030"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.add_column("comments", sa.Column("appeal", _TEXT))
    op.add_column("comments", sa.Column("appealed_at", _MOMENT))
    op.add_column("comments", sa.Column("appeal_open", sa.Boolean()))


def downgrade() -> None:
    """Take the change back. What nobody answered leaves the queue unless it waits anyway."""
    op.execute(
        "UPDATE comments SET review_rank = CASE WHEN outcome = 'unsure' AND NOT decided THEN 0 "
        "ELSE 2 END WHERE review_rank = -1"
    )
    for name in ("appeal_open", "appealed_at", "appeal"):
        op.drop_column("comments", name)
