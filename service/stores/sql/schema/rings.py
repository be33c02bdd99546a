"""The tables of what senders share, and of the rings that were found by it."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata, waits_for_review

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

ring_acts = sa.Table(
    "ring_acts",
    metadata,
    sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column(
        "comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False, unique=True
    ),
    # A keyed hash.
    sa.Column("who", LosslessText, nullable=False),
    sa.Column("ties", sa.JSON, nullable=False),
    sa.Column("ring_id", LosslessText),
    # The ring that a moderator took it out of.
    sa.Column("left_ring_id", LosslessText),
)

rings = sa.Table(
    "rings",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    # By what it was found last.
    sa.Column("ties", sa.JSON, nullable=False),
    # Of all members there ever were: the order of the list, shown nowhere.
    sa.Column("last_seen_at", UtcDateTime, nullable=False),
)

is_ringed = ring_acts.c.ring_id.is_not(None)
is_waiting_ringed = sa.and_(is_ringed, waits_for_review)
has_left_ring = ring_acts.c.left_ring_id.is_not(None)

_a = ring_acts.c
# Who sends very much is asked for from the index alone.
sa.Index("ix_ring_acts_who", _a.who, _a.ring_id)
for _name, _columns, _where in (
    ("ix_ring_acts_ring", (_a.ring_id, _a.comment_id, _a.who), is_ringed),
    ("ix_ring_acts_left", (_a.left_ring_id, _a.who), has_left_ring),
):
    sa.Index(_name, *_columns, sqlite_where=_where, postgresql_where=_where)
