"""What another version says of comments: in the shadow of the one that serves, or of an archive."""

from __future__ import annotations

revision = "m0013"
down_revision = "m0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what it needs."""


def downgrade() -> None:
    """Take it away."""
