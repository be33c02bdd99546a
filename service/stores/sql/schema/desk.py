"""The tables of the desk: who looks at what, what is put aside, what checks bulk decisions."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

# No foreign keys: a claim is worth a minute and must keep no comment and no account from going.
claims = sa.Table(
    "claims",
    metadata,
    sa.Column("comment_id", LosslessText, primary_key=True),
    sa.Column("user_id", LosslessText, nullable=False, index=True),
    sa.Column("user_name", LosslessText, nullable=False),
    sa.Column("since", UtcDateTime, nullable=False),
    sa.Column("until", UtcDateTime, nullable=False),
)

# No foreign key to accounts: who was handed a comment may be gone before it comes back.
asides = sa.Table(
    "asides",
    metadata,
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), primary_key=True),
    sa.Column("kind", LosslessText, nullable=False),
    sa.Column("by", LosslessText, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("until", UtcDateTime, nullable=False, index=True),
    sa.Column("user_id", LosslessText),
    sa.Column("note", LosslessText),
)

scan_checks = sa.Table(
    "scan_checks",
    metadata,
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), primary_key=True),
    sa.Column("stroke_id", LosslessText, sa.ForeignKey("strokes.id"), nullable=False, index=True),
    sa.Column("ruling", LosslessText, nullable=False),
)

sender_notes = sa.Table(
    "sender_notes",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("key", LosslessText, nullable=False, index=True),
    sa.Column("text", LosslessText, nullable=False),
    sa.Column("by", LosslessText, nullable=False),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("removed_at", UtcDateTime),
    sa.Column("removed_by", LosslessText),
)
