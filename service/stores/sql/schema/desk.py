"""The table of claims: who looks at which comment."""

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
