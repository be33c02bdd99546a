"""Keep when a site's build hook was called last."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0023"
down_revision = "m0022"
branch_labels = None
depends_on = None

_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.add_column("site_endpoints", sa.Column("called_at", _MOMENT))


def downgrade() -> None:
    """Take the change back."""
    # Earlier versions know no such forms.
    new = "form IN ('mastodon', 'build_hook')"
    op.execute(
        "DELETE FROM delivery_attempts WHERE delivery_id IN "  # noqa: S608  # fixed words
        f"(SELECT id FROM deliveries WHERE {new})"
    )
    op.execute(f"DELETE FROM deliveries WHERE {new}")  # noqa: S608  # fixed words
    op.execute(f"DELETE FROM site_endpoints WHERE {new}")  # noqa: S608  # fixed words
    op.drop_column("site_endpoints", "called_at")
