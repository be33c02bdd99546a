"""The schema of version 1.0, the oldest that can be migrated."""

revision = "m0023"
down_revision = None


def upgrade() -> None:
    """Do nothing: databases of 1.0 have this revision."""
