"""Give accounts a role, sites, preferences, sessions and a second factor; find old comments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0006"
down_revision = "m0005"
branch_labels = None
depends_on = None

_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    # So far everybody could do everything on the pages; whoever came first runs the place.
    op.add_column("users", sa.Column("role", _TEXT, nullable=False, server_default="moderator"))
    op.add_column("users", sa.Column("site_ids", sa.JSON()))
    op.execute(
        "UPDATE users SET role = 'owner' WHERE id = "
        "(SELECT id FROM users ORDER BY created_at, id LIMIT 1)"
    )
    op.add_column("users", sa.Column("preferences", sa.JSON()))
    op.add_column("users", sa.Column("ended_at", _MOMENT))
    # Sessions have a table of their own now; those of before end, and everybody signs in anew.
    op.drop_column("users", "session_epoch")
    _make_sessions()
    _make_second_factors()
    for column in ("actor", "act", "at"):
        op.create_index(f"ix_audit_log_{column}_seq", "audit_log", [column, "seq"])
    kept = sa.text("outcome IS NOT NULL AND withdrawn_at IS NULL")
    op.create_index(
        "ix_comments_age",
        "comments",
        ["outcome", "received_at", "id"],
        sqlite_where=kept,
        postgresql_where=kept,
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_index("ix_comments_age", "comments")
    for column in ("actor", "act", "at"):
        op.drop_index(f"ix_audit_log_{column}_seq", "audit_log")
    for table in ("recovery_codes", "second_factors", "user_sessions"):
        op.drop_table(table)
    epoch = sa.Column("session_epoch", sa.Integer(), nullable=False, server_default="0")
    op.add_column("users", epoch)
    op.drop_column("users", "ended_at")
    op.drop_column("users", "preferences")
    op.drop_column("users", "site_ids")
    op.drop_column("users", "role")


def _make_sessions() -> None:
    op.create_table(
        "user_sessions",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("last_seen_at", _MOMENT, nullable=False),
        sa.Column("browser", _TEXT, nullable=False),
        sa.Column("ended_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_user_sessions"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_user_sessions_user_id"),
    )
    op.create_index("ix_user_sessions_last_seen_at", "user_sessions", ["last_seen_at"])
    op.create_index(
        "ix_user_sessions_user_id_last_seen_at", "user_sessions", ["user_id", "last_seen_at"]
    )


def _make_second_factors() -> None:
    op.create_table(
        "second_factors",
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("seed", _TEXT, nullable=False),
        sa.Column("since", _MOMENT, nullable=False),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_second_factors"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_second_factors_user_id"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("user_id", _TEXT, nullable=False),
        sa.Column("digest", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("user_id", "digest", name="pk_recovery_codes"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_recovery_codes_user_id"),
    )
