"""What drift is measured against."""

from __future__ import annotations

revision = "m0015"
down_revision = "m0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what it needs."""


def downgrade() -> None:
    """Take it away."""
