"""Drop unused tables: shadow verdicts, rings, drift, the old desk, reminders."""

from alembic import op

revision = "m0024"
down_revision = "m0023"

one_way = True

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


def upgrade() -> None:
    """Apply the change."""
    for table in _TABLES:
        # Databases created by this version never had them.
        op.execute(f"DROP TABLE IF EXISTS {table}")
    op.drop_column("applied", "reference")
    for statement in _MASTODON:
        op.execute(statement)
    op.execute("UPDATE strokes SET what = 'selection' WHERE what = 'scan'")
    op.execute("UPDATE strokes SET what = 'campaign' WHERE what = 'ring'")
