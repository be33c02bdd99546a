"""The table of reminders, as the newest migration leaves it."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

reminders = sa.Table(
    "reminders",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("channel", LosslessText, nullable=False),
    # Empty for the room: a unique index takes two NULLs for different.
    sa.Column("user_id", LosslessText, nullable=False),
    sa.Column("occasion", LosslessText, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("state", LosslessText, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_try_at", UtcDateTime),
    sa.Column("ended_at", UtcDateTime),
    sa.Column("problem", LosslessText),
    sa.Column("over_at", UtcDateTime),
    sa.Index("ix_reminders_created_at", "created_at"),
)
is_in_force = reminders.c.over_at.is_(None)
# One recipient is told of one crossing once, whatever several processes do at a time.
sa.Index(
    "ix_reminders_in_force",
    reminders.c.channel,
    reminders.c.user_id,
    reminders.c.occasion,
    unique=True,
    sqlite_where=is_in_force,
    postgresql_where=is_in_force,
)
