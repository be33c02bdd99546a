"""Keep what more is known of a comment's sender, and what the site's form saw."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "m0004"
down_revision = "m0003"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_COLUMNS: tuple[tuple[str, sa.types.TypeEngine[Any]], ...] = (
    ("sender_wide_network_key", _TEXT),
    ("sender_system", sa.BigInteger()),
    ("sender_name_key", _TEXT),
    ("sender_before_rotation", sa.JSON()),
    ("sender_listings", sa.JSON()),
    ("form_seconds_on_page", sa.Double()),
    ("form_honeypot_filled", sa.Boolean()),
)


def upgrade() -> None:
    """Apply the change."""
    for name, kind in _COLUMNS:
        op.add_column("comments", sa.Column(name, kind))


def downgrade() -> None:
    """Take the change back."""
    for name, _ in reversed(_COLUMNS):
        op.drop_column("comments", name)
