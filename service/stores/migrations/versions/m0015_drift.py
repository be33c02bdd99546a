"""Count what comes in by day, so that drift can be told, and remember which domains were linked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0015"
down_revision = "m0014"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_COUNTS_VERDICTS = sa.text("kind = 'fact' AND name = 'verdicts'")


def upgrade() -> None:
    """Apply the change. What was judged already is counted later, a portion at a time."""
    op.create_table(
        "traffic_due",
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("comment_id", name="pk_traffic_due"),
    )
    op.execute("INSERT INTO traffic_due (comment_id) SELECT comment_id FROM verdicts")
    op.create_table(
        "traffic_counts",
        sa.Column("day", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("model_version", _TEXT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "day", "site_id", "model_version", "kind", "name", name="pk_traffic_counts"
        ),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_traffic_counts_site_id"),
    )
    op.create_index(
        "ix_traffic_counts_days",
        "traffic_counts",
        ["model_version", "day", "site_id"],
        sqlite_where=_COUNTS_VERDICTS,
        postgresql_where=_COUNTS_VERDICTS,
    )
    op.create_table(
        "known_domains",
        sa.Column("digest", _TEXT, nullable=False),
        sa.Column("first_seen_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_known_domains"),
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_table("known_domains")
    op.drop_table("traffic_counts")
    op.drop_table("traffic_due")
