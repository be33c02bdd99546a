"""The schema of version 1.0, the oldest one that is brought up to date."""

from __future__ import annotations

revision = "m0023"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change nothing: databases of 1.0 stand here."""
