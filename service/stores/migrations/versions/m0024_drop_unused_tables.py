"""Drop what no feature reads any more: shadow verdicts, rings, drift, the old desk, reminders."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0024"
down_revision = "m0023"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_GONE = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)
# What the dropped tables refer to; these stay.
_STAYS = [
    sa.Table(name, _GONE, sa.Column("id", _TEXT, primary_key=True))
    for name in ("comments", "sites", "strokes")
]

opinions = sa.Table(
    "opinions",
    _GONE,
    sa.Column("comment_id", _TEXT, sa.ForeignKey("comments.id"), primary_key=True),
    sa.Column("model_version", _TEXT, primary_key=True),
    sa.Column("origin", _TEXT, nullable=False),
    sa.Column("outcome", _TEXT, nullable=False),
    sa.Column("p_spam", sa.Double, nullable=False),
    sa.Column("formed_at", _MOMENT, nullable=False),
    sa.Column("site_id", _TEXT, nullable=False),
    sa.Column("received_at", _MOMENT, nullable=False),
    sa.Column("judged_at", _MOMENT, nullable=False),
    sa.Column("verdict", _TEXT, nullable=False),
    sa.Column("differs", sa.Boolean, nullable=False),
    sa.Index("ix_opinions_version", "model_version", "formed_at"),
    sa.Index("ix_opinions_age", "formed_at"),
    sa.Index(
        "ix_opinions_counted", "model_version", "received_at", "site_id", "verdict", "outcome"
    ),
    sa.Index("ix_opinions_seen", "model_version", "origin", "judged_at", "site_id"),
)

_differs = opinions.c.differs.is_(True)
sa.Index(
    "ix_opinions_differing",
    opinions.c.model_version,
    opinions.c.comment_id,
    sqlite_where=_differs,
    postgresql_where=_differs,
)

back_scorings = sa.Table(
    "back_scorings",
    _GONE,
    sa.Column("id", _TEXT, primary_key=True),
    sa.Column("model_version", _TEXT, nullable=False),
    sa.Column("site_ids", sa.JSON(none_as_null=True)),
    sa.Column("since", _MOMENT),
    sa.Column("until", _MOMENT, nullable=False),
    sa.Column("asked_by", _TEXT, nullable=False),
    sa.Column("asked_at", _MOMENT, nullable=False),
    sa.Column("state", _TEXT, nullable=False),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("done", sa.BigInteger, nullable=False),
    sa.Column("cursor", _TEXT),
    sa.Column("cut", sa.Boolean, nullable=False),
    sa.Column("chunks", sa.BigInteger, nullable=False),
    sa.Column("ended_at", _MOMENT),
    sa.Column("problem", _TEXT),
)
back_scoring_chunks = sa.Table(
    "back_scoring_chunks",
    _GONE,
    sa.Column("job_id", _TEXT, sa.ForeignKey("back_scorings.id"), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("after", _TEXT),
    sa.Column("last", _TEXT, nullable=False),
    sa.Column("comments", sa.Integer, nullable=False),
    sa.Column("queued_at", _MOMENT, nullable=False),
)

ring_acts = sa.Table(
    "ring_acts",
    _GONE,
    sa.Column("seq", _NUMBER, primary_key=True, autoincrement=True),
    sa.Column("comment_id", _TEXT, sa.ForeignKey("comments.id"), nullable=False, unique=True),
    sa.Column("who", _TEXT, nullable=False),
    sa.Column("ties", sa.JSON, nullable=False),
    sa.Column("ring_id", _TEXT),
    sa.Column("left_ring_id", _TEXT),
)

rings = sa.Table(
    "rings",
    _GONE,
    sa.Column("id", _TEXT, primary_key=True),
    sa.Column("ties", sa.JSON, nullable=False),
    sa.Column("last_seen_at", _MOMENT, nullable=False),
)

_is_ringed = ring_acts.c.ring_id.is_not(None)

_has_left = ring_acts.c.left_ring_id.is_not(None)

_a = ring_acts.c
sa.Index("ix_ring_acts_who", _a.who, _a.ring_id)
for _name, _columns, _where in (
    ("ix_ring_acts_ring", (_a.ring_id, _a.comment_id, _a.who), _is_ringed),
    ("ix_ring_acts_left", (_a.left_ring_id, _a.who), _has_left),
):
    sa.Index(_name, *_columns, sqlite_where=_where, postgresql_where=_where)

traffic_due = sa.Table(
    "traffic_due",
    _GONE,
    sa.Column("comment_id", _TEXT, primary_key=True),
)
traffic_counts = sa.Table(
    "traffic_counts",
    _GONE,
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("site_id", _TEXT, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("model_version", _TEXT, primary_key=True),
    sa.Column("kind", _TEXT, primary_key=True),
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
)
known_domains = sa.Table(
    "known_domains",
    _GONE,
    sa.Column("digest", _TEXT, primary_key=True),
    sa.Column("first_seen_at", _MOMENT, nullable=False),
)

_counts_verdicts = sa.and_(
    traffic_counts.c.kind == sa.literal_column("'fact'"),
    traffic_counts.c.name == sa.literal_column("'verdicts'"),
)
sa.Index(
    "ix_traffic_counts_days",
    traffic_counts.c.model_version,
    traffic_counts.c.day,
    traffic_counts.c.site_id,
    sqlite_where=_counts_verdicts,
    postgresql_where=_counts_verdicts,
)

asides = sa.Table(
    "asides",
    _GONE,
    sa.Column("comment_id", _TEXT, sa.ForeignKey("comments.id"), primary_key=True),
    sa.Column("kind", _TEXT, nullable=False),
    sa.Column("by", _TEXT, nullable=False),
    sa.Column("at", _MOMENT, nullable=False),
    sa.Column("until", _MOMENT, nullable=False, index=True),
    sa.Column("user_id", _TEXT),
    sa.Column("note", _TEXT),
)

scan_checks = sa.Table(
    "scan_checks",
    _GONE,
    sa.Column("comment_id", _TEXT, sa.ForeignKey("comments.id"), primary_key=True),
    sa.Column("stroke_id", _TEXT, sa.ForeignKey("strokes.id"), nullable=False, index=True),
    sa.Column("ruling", _TEXT, nullable=False),
)

sender_notes = sa.Table(
    "sender_notes",
    _GONE,
    sa.Column("id", _TEXT, primary_key=True),
    sa.Column("site_id", _TEXT, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("key", _TEXT, nullable=False, index=True),
    sa.Column("text", _TEXT, nullable=False),
    sa.Column("by", _TEXT, nullable=False),
    sa.Column("at", _MOMENT, nullable=False),
    sa.Column("removed_at", _MOMENT),
    sa.Column("removed_by", _TEXT),
)

reminders = sa.Table(
    "reminders",
    _GONE,
    sa.Column("id", _TEXT, primary_key=True),
    sa.Column("channel", _TEXT, nullable=False),
    sa.Column("user_id", _TEXT, nullable=False),
    sa.Column("occasion", _TEXT, nullable=False),
    sa.Column("created_at", _MOMENT, nullable=False),
    sa.Column("state", _TEXT, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_try_at", _MOMENT),
    sa.Column("ended_at", _MOMENT),
    sa.Column("problem", _TEXT),
    sa.Column("over_at", _MOMENT),
    sa.Index("ix_reminders_created_at", "created_at"),
)
_is_in_force = reminders.c.over_at.is_(None)
sa.Index(
    "ix_reminders_in_force",
    reminders.c.channel,
    reminders.c.user_id,
    reminders.c.occasion,
    unique=True,
    sqlite_where=_is_in_force,
    postgresql_where=_is_in_force,
)

saved_views = sa.Table(
    "saved_views",
    _GONE,
    sa.Column("id", _TEXT, primary_key=True),
    sa.Column("owner_id", _TEXT, nullable=False, index=True),
    sa.Column("name", _TEXT, nullable=False),
    sa.Column("query", _TEXT, nullable=False),
    sa.Column("shared", sa.Boolean, nullable=False),
    sa.Column("created_at", _MOMENT, nullable=False),
)


# Mastodon is no platform any more; reading such a row would fail.
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
    # A database that this version has made never had them.
    _GONE.drop_all(op.get_bind(), tables=_dropped(), checkfirst=True)
    op.drop_column("applied", "reference")
    for statement in _MASTODON:
        op.execute(statement)
    op.execute("UPDATE strokes SET what = 'selection' WHERE what = 'scan'")
    op.execute("UPDATE strokes SET what = 'campaign' WHERE what = 'ring'")


def downgrade() -> None:
    """Take the change back."""
    op.add_column("applied", sa.Column("reference", _TEXT))
    _GONE.create_all(op.get_bind(), tables=_dropped(), checkfirst=False)


def _dropped() -> list[sa.Table]:
    return [table for table in _GONE.sorted_tables if table not in _STAYS]
