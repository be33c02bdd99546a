"""Indexes for what pages ask most."""

from __future__ import annotations

revision = "m0016"
down_revision = "m0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what it needs."""


def downgrade() -> None:
    """Take it away."""
