"""The tables of what moderators allow and block, as the newest migration leaves them."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

list_entries = sa.Table(
    "list_entries",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id")),
    sa.Column("effect", LosslessText, nullable=False),
    sa.Column("kind", LosslessText, nullable=False),
    sa.Column("label", LosslessText, nullable=False),
    sa.Column("keys", sa.JSON, nullable=False),
    sa.Column("reason", LosslessText, nullable=False),
    sa.Column("added_by", LosslessText, nullable=False),
    sa.Column("added_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime),
    sa.Column("removed_at", UtcDateTime),
    sa.Column("removed_by", LosslessText),
    # No foreign key: an entry outlives the comment that it was made from.
    sa.Column("comment_id", LosslessText),
    sa.Column("hits", sa.BigInteger, nullable=False),
    sa.Column("last_hit_at", UtcDateTime),
    # Label, reason and who added it, folded: what a moderator searches in.
    sa.Column("folded", LosslessText, nullable=False),
    sa.Index("ix_list_entries_newest", "added_at", "id"),
)

# One row, none before the first entry. Whoever changes an entry locks it and adds one, so that
# versions follow the commits.
list_version = sa.Table(
    "list_version",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.BigInteger, nullable=False),
)
