"""Make room for the proof that writes work; find delivered messages by their age."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0003"
down_revision = "m0002"
branch_labels = None
depends_on = None

_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "write_probe",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_write_probe"),
    )
    delivered = sa.text("state = 'delivered'")
    op.create_index(
        "ix_deliveries_delivered",
        "deliveries",
        ["ended_at", "seq"],
        sqlite_where=delivered,
        postgresql_where=delivered,
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("ix_deliveries_delivered", "deliveries")
    op.drop_table("write_probe")
