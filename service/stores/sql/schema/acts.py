"""The tables of bulk decisions, as the newest migration leaves them."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.sql.base.types import LosslessText, UtcDateTime
from service.stores.sql.schema.tables import metadata

_Sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

strokes = sa.Table(
    "strokes",
    metadata,
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", LosslessText, nullable=False, unique=True),
    sa.Column("what", LosslessText, nullable=False),
    sa.Column("ruling", LosslessText, nullable=False),
    sa.Column("decided_by", LosslessText, nullable=False),
    sa.Column("decided_at", UtcDateTime, nullable=False),
    # Kept in step in the transactions of its decisions.
    sa.Column("n_decided", sa.BigInteger, nullable=False),
    sa.Column("n_left_out", sa.BigInteger, nullable=False),
    sa.Column("undone_at", UtcDateTime),
    sa.Column("undone_by", LosslessText),
)

stroke_sites = sa.Table(
    "stroke_sites",
    metadata,
    sa.Column("stroke_id", LosslessText, sa.ForeignKey("strokes.id"), primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), primary_key=True),
)
