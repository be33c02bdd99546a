"""Keep with each decision since when histories do not know of its last change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0005"
down_revision = "m0004"
branch_labels = None
depends_on = None

_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.add_column("decisions", sa.Column("unremembered_since", _MOMENT))
    waiting = sa.text("unremembered_since IS NOT NULL")
    op.create_index(
        "ix_decisions_unremembered",
        "decisions",
        ["unremembered_since", "seq"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("ix_decisions_unremembered", "decisions")
    op.drop_column("decisions", "unremembered_since")
