"""Keep which platforms decisions are applied at, and what was hidden there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0022"
down_revision = "m0021"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.add_column(
        "site_endpoints",
        sa.Column("form", _TEXT, nullable=False, server_default="standard_webhook"),
    )
    op.add_column("site_endpoints", sa.Column("refused_at", _MOMENT))
    op.add_column("site_endpoints", sa.Column("rests_until", _MOMENT))
    op.create_table(
        "applied",
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("site_comment_id", _TEXT, nullable=False),
        sa.Column("certain", sa.Boolean(), nullable=False),
        sa.Column("reference", _TEXT),
        sa.PrimaryKeyConstraint("site_id", "site_comment_id", name="pk_applied"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_applied_site_id"),
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_table("applied")
    # Earlier versions know no such form, and would sign with a token.
    known = "form IN ('standard_webhook', 'akismet')"
    op.execute(
        "DELETE FROM delivery_attempts WHERE delivery_id IN "  # noqa: S608  # fixed words
        f"(SELECT id FROM deliveries WHERE NOT {known})"
    )
    op.execute(f"DELETE FROM deliveries WHERE NOT {known}")  # noqa: S608  # fixed words
    op.execute(f"DELETE FROM site_endpoints WHERE NOT {known}")  # noqa: S608  # fixed words
    for name in ("rests_until", "refused_at", "form"):
        op.drop_column("site_endpoints", name)
