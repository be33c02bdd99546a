"""Make room for reports, callbacks, inbound hooks, withdrawn comments."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from service.domain.normal_form import content_key
from service.stores.sql.base.types import LosslessText

revision = "m0002"
down_revision = "m0001"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

# Texts have up to 64 kB: what lies in memory at once stays below 64 MB.
_BATCH = 1_000


def upgrade() -> None:
    """Apply the change."""
    _widen_comments()
    _fill_content_keys()
    _index_comments()
    _make_reports()
    _make_deliveries()
    _make_inbound_hooks()


def downgrade() -> None:
    """Take the change back. What was withdrawn stays blank."""
    for table in (
        "inbound_seen",
        "inbound_hooks",
        "delivery_attempts",
        "deliveries",
        "site_endpoints",
        "reports",
    ):
        op.drop_table(table)
    op.drop_index("ix_comments_content", "comments")
    op.drop_index("ix_comments_pending", "comments")
    for column in ("content_key", "withdrawn_at", "reported_as"):
        op.drop_column("comments", column)
    _partial_index(
        "ix_comments_pending", "comments", ["received_at", "id", "lane"], "outcome IS NULL"
    )


def _widen_comments() -> None:
    op.add_column("comments", sa.Column("reported_as", _TEXT))
    op.add_column("comments", sa.Column("withdrawn_at", _MOMENT))
    op.add_column("comments", sa.Column("content_key", _TEXT))


def _fill_content_keys() -> None:
    """Let reports find comments of earlier days.

    Keys only help if they are made as the running program makes them, so its own function is
    taken here rather than a copy of that day's.
    """
    connection = op.get_bind()
    rows: Any = sa.table(
        "comments",
        sa.column("id", LosslessText()),
        sa.column("text", LosslessText()),
        sa.column("content_key", sa.Text()),
    )
    fill = (
        sa.update(rows)
        .where(rows.c.id == sa.bindparam("comment_id"))
        .values(content_key=sa.bindparam("key"))
    )
    batch = sa.select(rows.c.id, rows.c.text).order_by(rows.c.id).limit(_BATCH)
    found = connection.execute(batch).all()
    while found:
        keys = [{"comment_id": row.id, "key": content_key(row.text)} for row in found]
        connection.execute(fill, keys)
        found = connection.execute(batch.where(rows.c.id > found[-1].id)).all()


def _index_comments() -> None:
    _partial_index(
        "ix_comments_content",
        "comments",
        ["site_id", "content_key", "received_at", "id"],
        "content_key IS NOT NULL",
    )
    op.drop_index("ix_comments_pending", "comments")
    _partial_index(
        "ix_comments_pending",
        "comments",
        ["received_at", "id", "lane", "withdrawn_at"],
        "outcome IS NULL",
    )


def _make_reports() -> None:
    op.create_table(
        "reports",
        sa.Column("seq", _SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("comment_id", _TEXT),
        sa.Column("label", _TEXT, nullable=False),
        sa.Column("reported_at", _MOMENT, nullable=False),
        sa.Column("reported_by", _TEXT),
        sa.PrimaryKeyConstraint("seq", name="pk_reports"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_reports_site_id"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_reports_comment_id"),
        sa.UniqueConstraint("id", name="uq_reports_id"),
    )
    op.create_index("ix_reports_comment_id", "reports", ["comment_id"])


def _make_deliveries() -> None:
    op.create_table(
        "site_endpoints",
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("secrets", sa.JSON(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("site_id", name="pk_site_endpoints"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_site_endpoints_site_id"),
    )
    op.create_table(
        "deliveries",
        sa.Column("seq", _SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("event", _TEXT, nullable=False),
        sa.Column("form", _TEXT, nullable=False),
        sa.Column("url", _TEXT, nullable=False),
        sa.Column("payload", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_try_at", _MOMENT),
        sa.Column("ended_at", _MOMENT),
        sa.Column("due_at", _MOMENT),
        sa.Column("lent_until", _MOMENT),
        sa.PrimaryKeyConstraint("seq", name="pk_deliveries"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_deliveries_site_id"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_deliveries_comment_id"),
        sa.UniqueConstraint("id", name="uq_deliveries_id"),
    )
    _index_deliveries()
    op.create_table(
        "delivery_attempts",
        sa.Column("seq", _SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("delivery_id", _TEXT, nullable=False),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("milliseconds", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Integer()),
        sa.Column("problem", _TEXT),
        sa.PrimaryKeyConstraint("seq", name="pk_delivery_attempts"),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["deliveries.id"], name="fk_delivery_attempts_delivery_id"
        ),
    )
    op.create_index("ix_delivery_attempts_delivery_id", "delivery_attempts", ["delivery_id"])


def _index_deliveries() -> None:
    table = "deliveries"
    first, undelivered = "due_at IS NOT NULL", "state != 'delivered'"
    _partial_index("ix_deliveries_due", table, ["due_at", "seq"], first)
    _partial_index("uq_deliveries_first_in_line", table, ["comment_id"], first, unique=True)
    _partial_index("ix_deliveries_line", table, ["comment_id", "seq"], "state = 'waiting'")
    op.create_index("ix_deliveries_site", table, ["site_id", "seq"])
    _partial_index("ix_deliveries_undelivered", table, ["state", "seq"], undelivered)
    _partial_index(
        "ix_deliveries_site_undelivered", table, ["site_id", "state", "seq"], undelivered
    )


def _make_inbound_hooks() -> None:
    op.create_table(
        "inbound_hooks",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("platform", _TEXT, nullable=False),
        sa.Column("secret", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("revoked_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_inbound_hooks"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_inbound_hooks_site_id"),
    )
    op.create_index("ix_inbound_hooks_site_id", "inbound_hooks", ["site_id"])
    op.create_table(
        "inbound_seen",
        sa.Column("hook_id", _TEXT, nullable=False),
        sa.Column("delivery_digest", _TEXT, nullable=False),
        sa.Column("seen_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("hook_id", "delivery_digest", name="pk_inbound_seen"),
        sa.ForeignKeyConstraint(["hook_id"], ["inbound_hooks.id"], name="fk_inbound_seen_hook_id"),
    )
    op.create_index("ix_inbound_seen_age", "inbound_seen", ["hook_id", "seen_at"])


def _partial_index(
    name: str, table: str, columns: list[str], where: str, *, unique: bool = False
) -> None:
    op.create_index(
        name,
        table,
        columns,
        unique=unique,
        sqlite_where=sa.text(where),
        postgresql_where=sa.text(where),
    )
