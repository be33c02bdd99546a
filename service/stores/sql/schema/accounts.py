"""The tables of moderators' sessions and second factors."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

user_sessions = sa.Table(
    "user_sessions",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("user_id", LosslessText, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("last_seen_at", UtcDateTime, nullable=False, index=True),
    sa.Column("browser", LosslessText, nullable=False),
    sa.Column("ended_at", UtcDateTime),
    sa.Index("ix_user_sessions_user_id_last_seen_at", "user_id", "last_seen_at"),
)

second_factors = sa.Table(
    "second_factors",
    metadata,
    sa.Column("user_id", LosslessText, sa.ForeignKey("users.id"), primary_key=True),
    sa.Column("seed", LosslessText, nullable=False),
    sa.Column("since", UtcDateTime, nullable=False),
    sa.Column("last_step", sa.BigInteger, nullable=False),
)

recovery_codes = sa.Table(
    "recovery_codes",
    metadata,
    sa.Column("user_id", LosslessText, sa.ForeignKey("users.id"), primary_key=True),
    sa.Column("digest", LosslessText, primary_key=True),
)
