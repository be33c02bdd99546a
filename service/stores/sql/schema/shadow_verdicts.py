"""The tables of what other versions say of comments, and of the jobs that ask them."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

opinions = sa.Table(
    "opinions",
    metadata,
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), primary_key=True),
    sa.Column("model_version", LosslessText, primary_key=True),
    sa.Column("origin", LosslessText, nullable=False),
    sa.Column("outcome", LosslessText, nullable=False),
    sa.Column("p_spam", sa.Double, nullable=False),
    sa.Column("formed_at", UtcDateTime, nullable=False),
    # Of the comment and its verdict, which never change: 200,000 shadow verdicts are counted
    # without reading either, in a tenth of the time.
    sa.Column("site_id", LosslessText, nullable=False),
    sa.Column("received_at", UtcDateTime, nullable=False),
    sa.Column("judged_at", UtcDateTime, nullable=False),
    sa.Column("verdict", LosslessText, nullable=False),
    sa.Column("differs", sa.Boolean, nullable=False),
    sa.Index("ix_opinions_version", "model_version", "formed_at"),
    sa.Index("ix_opinions_age", "formed_at"),
    sa.Index(
        "ix_opinions_counted", "model_version", "received_at", "site_id", "verdict", "outcome"
    ),
    sa.Index("ix_opinions_seen", "model_version", "origin", "judged_at", "site_id"),
)

differs = opinions.c.differs.is_(True)
sa.Index(
    "ix_opinions_differing",
    opinions.c.model_version,
    opinions.c.comment_id,
    sqlite_where=differs,
    postgresql_where=differs,
)

back_scorings = sa.Table(
    "back_scorings",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("model_version", LosslessText, nullable=False),
    sa.Column("site_ids", sa.JSON(none_as_null=True)),
    sa.Column("since", UtcDateTime),
    sa.Column("until", UtcDateTime, nullable=False),
    sa.Column("asked_by", LosslessText, nullable=False),
    sa.Column("asked_at", UtcDateTime, nullable=False),
    sa.Column("state", LosslessText, nullable=False),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("done", sa.BigInteger, nullable=False),
    sa.Column("cursor", LosslessText),
    sa.Column("cut", sa.Boolean, nullable=False),
    sa.Column("chunks", sa.BigInteger, nullable=False),
    sa.Column("ended_at", UtcDateTime),
    sa.Column("problem", LosslessText),
)

# Open ones alone: a chunk that is done is counted in its job and goes.
back_scoring_chunks = sa.Table(
    "back_scoring_chunks",
    metadata,
    sa.Column("job_id", LosslessText, sa.ForeignKey("back_scorings.id"), primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("after", LosslessText),
    sa.Column("last", LosslessText, nullable=False),
    sa.Column("comments", sa.Integer, nullable=False),
    sa.Column("queued_at", UtcDateTime, nullable=False),
)
