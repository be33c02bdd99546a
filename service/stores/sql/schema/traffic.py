"""The tables that say what came in on which day, and which domains were linked to before."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

# Judged and not counted yet. Filled in the transactions that keep verdicts; upkeep counts.
traffic_due = sa.Table(
    "traffic_due",
    metadata,
    # Without a foreign key, as `search_due` is.
    sa.Column("comment_id", LosslessText, primary_key=True),
)

# How many verdicts of a version had something (`service.domain.traffic`) on one UTC day, which is
# the number of days since 1970.
traffic_counts = sa.Table(
    "traffic_counts",
    metadata,
    sa.Column("day", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("model_version", LosslessText, primary_key=True),
    sa.Column("kind", LosslessText, primary_key=True),
    sa.Column("name", LosslessText, primary_key=True),
    sa.Column("number", sa.BigInteger, nullable=False),
)

# Registered domains that comments linked to, as digests: hosts are hostile text.
known_domains = sa.Table(
    "known_domains",
    metadata,
    sa.Column("digest", LosslessText, primary_key=True),
    sa.Column("first_seen_at", UtcDateTime, nullable=False),
)

counts_verdicts = sa.and_(
    traffic_counts.c.kind == sa.literal_column("'fact'"),
    traffic_counts.c.name == sa.literal_column("'verdicts'"),
)
# Finds a version's first days without reading all of its counts.
sa.Index(
    "ix_traffic_counts_days",
    traffic_counts.c.model_version,
    traffic_counts.c.day,
    traffic_counts.c.site_id,
    sqlite_where=counts_verdicts,
    postgresql_where=counts_verdicts,
)
