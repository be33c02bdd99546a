"""The tables of the search and of saved views; the newest migration leaves them so.

What each database indexes `search_docs.terms` with stands in that migration alone: on SQLite an
FTS5 table `search_fts`, on PostgreSQL a GIN index `ix_search_docs_terms`.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSVECTOR

from service.stores.sql.base.types import LosslessText
from service.stores.sql.schema.tables import comments, metadata

# SQLite takes a key of exactly this type for its own row number, which FTS5 speaks of.
_Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# What the search does not know yet, or knows from before the verdict. Filled in the transactions
# that keep comments and verdicts; upkeep takes it in.
search_due = sa.Table(
    "search_due",
    metadata,
    # Without a foreign key, which would be looked up for each comment at intake.
    sa.Column("comment_id", LosslessText, primary_key=True),
)

# One row for each comment that can be found. `seq` is made of the time of arrival, so that the
# index itself yields the newest first.
search_docs = sa.Table(
    "search_docs",
    metadata,
    sa.Column("seq", _Number, primary_key=True, autoincrement=False),
    sa.Column(
        "comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False, unique=True
    ),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("terms", sa.Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
)

# What a sender's other comments are found by, the newest first.
SENDER_COLUMNS = (
    "sender_address_key",
    "sender_network_key",
    "sender_email_key",
    "sender_name_key",
)
for _name in SENDER_COLUMNS:
    _has_key = comments.c[_name].is_not(None)
    sa.Index(
        f"ix_comments_{_name}",
        comments.c[_name],
        comments.c.received_at,
        sqlite_where=_has_key,
        postgresql_where=_has_key,
    )
