"""Retrainings: who asked, how far they came, what they recommend."""

from __future__ import annotations

revision = "m0014"
down_revision = "m0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what it needs."""


def downgrade() -> None:
    """Take it away."""
