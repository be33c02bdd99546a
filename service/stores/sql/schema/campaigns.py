"""The tables of campaigns and of what comments are grouped by."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import comments, metadata, waits_for_review

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

comment_traits = sa.Table(
    "comment_traits",
    metadata,
    sa.Column("seq", _SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column(
        "comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False, unique=True
    ),
    # One signed byte a number; the vector is of unit length, so no scale is kept.
    sa.Column("embedding", sa.LargeBinary),
    sa.Column("space", LosslessText, nullable=False),
    sa.Column("targets", sa.JSON, nullable=False),
    sa.Column("copies", sa.JSON, nullable=False),
    # None until it was looked for others like it.
    sa.Column("grouped_at", UtcDateTime),
    # The campaign that a moderator took it out of.
    sa.Column("left_campaign_id", LosslessText),
)

campaigns = sa.Table(
    "campaigns",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    # Of all members there ever were: the order of the list, shown nowhere.
    sa.Column("last_seen_at", UtcDateTime, nullable=False),
)

# One row: who alone may group comments, and until when.
grouping_lease = sa.Table(
    "grouping_lease",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("holder", LosslessText, nullable=False),
    sa.Column("until", UtcDateTime, nullable=False),
)

is_fresh = comment_traits.c.grouped_at.is_(None)
has_left = comment_traits.c.left_campaign_id.is_not(None)
is_member = comments.c.campaign_id.is_not(None)
is_waiting_member = sa.and_(is_member, waits_for_review)

_t, _c = comment_traits.c, comments.c
_MEMBER = (_c.campaign_id, _c.received_at, _c.id, _c.site_id)
# The last column of each lets it answer the counting queries alone, without the comments' rows.
for _name, _columns, _where in (
    ("ix_comment_traits_fresh", (_t.seq,), is_fresh),
    ("ix_comment_traits_left", (_t.left_campaign_id,), has_left),
    ("ix_comments_campaign", (*_MEMBER, _c.post_url), is_member),
    ("ix_comments_campaign_waiting", (*_MEMBER, _c.review_rank), is_waiting_member),
):
    sa.Index(_name, *_columns, sqlite_where=_where, postgresql_where=_where)
