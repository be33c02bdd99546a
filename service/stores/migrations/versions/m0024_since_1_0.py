"""Change the tables of 1.0: drop those that nothing reads, add what was added since."""

import sqlalchemy as sa
from alembic import op

revision = "m0024"
down_revision = "m0023"

_TABLES = (
    "opinions",
    "back_scoring_chunks",
    "back_scorings",
    "ring_acts",
    "rings",
    "traffic_due",
    "traffic_counts",
    "known_domains",
    "asides",
    "scan_checks",
    "sender_notes",
    "reminders",
    "saved_views",
)
# Mastodon is not supported any more; reading such a row would fail.
_OF_MASTODON = "(SELECT id FROM deliveries WHERE form = 'mastodon')"
_HOOKS_OF_MASTODON = "(SELECT id FROM inbound_hooks WHERE platform = 'mastodon')"
_MASTODON = (
    f"DELETE FROM delivery_attempts WHERE delivery_id IN {_OF_MASTODON}",  # noqa: S608  # fixed words
    "DELETE FROM deliveries WHERE form = 'mastodon'",
    "DELETE FROM site_endpoints WHERE form = 'mastodon'",
    f"DELETE FROM inbound_seen WHERE hook_id IN {_HOOKS_OF_MASTODON}",  # noqa: S608  # fixed words
    "DELETE FROM inbound_hooks WHERE platform = 'mastodon'",
)
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    for table in _TABLES:
        # Databases created by this version never had them.
        op.execute(f"DROP TABLE IF EXISTS {table}")
    op.drop_column("applied", "reference")
    op.drop_column("decisions", "seconds")
    for column in ("seconds_left", "version", "recommendation"):
        op.drop_column("retrainings", column)
    for statement in _MASTODON:
        op.execute(statement)
    op.execute("UPDATE strokes SET what = 'selection' WHERE what = 'scan'")
    op.execute("UPDATE strokes SET what = 'campaign' WHERE what = 'ring'")
    op.add_column("comments", sa.Column("ruled_text", sa.JSON(none_as_null=True)))
    op.add_column("comments", sa.Column("kind", _TEXT))
    op.add_column("comments", sa.Column("post_published_at", _MOMENT))
    op.add_column("comments", sa.Column("second_opinion", sa.JSON(none_as_null=True)))
    op.add_column("comments", sa.Column("appeal", _TEXT))
    op.add_column("comments", sa.Column("appealed_at", _MOMENT))
    op.add_column("verdicts", sa.Column("held_by", sa.JSON(none_as_null=True)))
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
