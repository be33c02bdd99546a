"""The tables of retrainings, as the newest migration leaves them."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

retrainings = sa.Table(
    "retrainings",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("asked_by", LosslessText, nullable=False),
    sa.Column("asked_at", UtcDateTime, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("state", LosslessText, nullable=False),
    sa.Column("started_at", UtcDateTime),
    # When it last said how far it is.
    sa.Column("seen_at", UtcDateTime),
    sa.Column("ended_at", UtcDateTime),
    sa.Column("step", LosslessText, nullable=False),
    sa.Column("share_done", sa.Float, nullable=False),
    sa.Column("seconds_left", sa.Float),
    sa.Column("decisions", sa.BigInteger, nullable=False),
    sa.Column("decisions_sha256", LosslessText, nullable=False),
    # What the report says as well, to be asked for without reading it.
    sa.Column("version", LosslessText),
    sa.Column("recommendation", LosslessText),
    sa.Column("summary", sa.JSON),
    sa.Column("problem", LosslessText),
    sa.Column("answer", LosslessText),
    sa.Column("answered_by", LosslessText),
    sa.Column("answered_at", UtcDateTime),
    sa.Index("ix_retrainings_asked_at", "asked_at"),
)

# One row: who alone may retrain, and until when.
retraining_lease = sa.Table(
    "retraining_lease",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("holder", LosslessText, nullable=False),
    sa.Column("until", UtcDateTime, nullable=False),
)
