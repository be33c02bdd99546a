"""Store the kind of a comment, and deletions that arrive before their comments."""

import sqlalchemy as sa
from alembic import op

revision = "m0027"
down_revision = "m0026"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.add_column("comments", sa.Column("kind", _TEXT))
    op.create_table(
        "early_deletions",
        sa.Column("site_comment_digest", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("deleted_at", _MOMENT, nullable=False),
        sa.Column("noted_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("site_comment_digest", name="pk_early_deletions"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_early_deletions_site_id"),
    )
    op.create_index("ix_early_deletions_age", "early_deletions", ["site_id", "noted_at"])


def downgrade() -> None:
    """Undo the change."""
    op.drop_table("early_deletions")
    # Earlier versions cannot read an edit by staff.
    op.execute("UPDATE comments SET edit = 'unapproved' WHERE edit = 'by_staff'")
    op.drop_column("comments", "kind")
