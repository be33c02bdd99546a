"""Make the first tables: sites, comments, verdicts, decisions, users, the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0001"
down_revision = None
branch_labels = None
depends_on = None

# Frozen copies of the column types of that day: a migration never changes once it was released.
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the change."""
    _make_sites()
    _make_comments()
    _index_comments()
    _make_verdicts()
    _make_decisions()
    _make_users()
    _make_audit_log()


def downgrade() -> None:
    """Take the change back."""
    for table in (
        "audit_log",
        "users",
        "decisions",
        "verdicts",
        "comments",
        "site_keys",
        "sites",
    ):
        op.drop_table(table)
    if op.get_context().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change_of_audit_log()")


def _make_sites() -> None:
    op.create_table(
        "sites",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sites"),
        sa.UniqueConstraint("name", name="uq_sites_name"),
    )
    op.create_table(
        "site_keys",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("hint", _TEXT, nullable=False),
        sa.Column("secret_sha256", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT),
        sa.Column("revoked_at", _MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_site_keys"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_site_keys_site_id"),
        sa.UniqueConstraint("secret_sha256", name="uq_site_keys_secret_sha256"),
    )
    op.create_index("ix_site_keys_site_id", "site_keys", ["site_id"])


def _make_comments() -> None:
    op.create_table(
        "comments",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("received_at", _MOMENT, nullable=False),
        sa.Column("lane", _TEXT, nullable=False),
        sa.Column("queued_at", _MOMENT),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("outcome", _TEXT),
        sa.Column("degraded", sa.Boolean()),
        sa.Column("audit", sa.Boolean(), nullable=False),
        sa.Column("decided", sa.Boolean(), nullable=False),
        sa.Column("review_rank", sa.SmallInteger(), nullable=False),
        sa.Column("fingerprint", _TEXT, nullable=False),
        sa.Column("idempotency_digest", _TEXT),
        sa.Column("site_comment_digest", _TEXT),
        sa.Column("text", _TEXT, nullable=False),
        sa.Column("site_comment_id", _TEXT),
        sa.Column("written_at", _MOMENT),
        sa.Column("language", _TEXT),
        sa.Column("user_agent", _TEXT),
        sa.Column("reply_to", _TEXT),
        sa.Column("post_url", _TEXT),
        sa.Column("post_title", _TEXT),
        sa.Column("post_excerpt", _TEXT),
        sa.Column("author_name", _TEXT),
        sa.Column("author_url", _TEXT),
        sa.Column("author_account_id", _TEXT),
        sa.Column("author_account_age_days", sa.BigInteger()),
        sa.Column("sender_address_key", _TEXT),
        sa.Column("sender_network_key", _TEXT),
        sa.Column("sender_email_key", _TEXT),
        sa.Column("sender_email_domain", _TEXT),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_comments_site_id"),
        sa.UniqueConstraint("idempotency_digest", name="uq_comments_idempotency_digest"),
        sa.UniqueConstraint("site_comment_digest", name="uq_comments_site_comment_digest"),
    )


def _index_comments() -> None:
    newest = ["received_at", "id"]
    op.create_index("ix_comments_newest", "comments", newest)
    op.create_index("ix_comments_site_newest", "comments", ["site_id", *newest])
    op.create_index("ix_comments_site_outcome", "comments", ["site_id", "outcome", *newest])
    true = "true" if op.get_context().dialect.name == "postgresql" else "1"
    partial = {
        "ix_comments_review": (["review_rank", *newest], "review_rank < 2"),
        "ix_comments_site_review": (["site_id", "review_rank", *newest], "review_rank < 2"),
        "ix_comments_site_decided": (["site_id", *newest], f"decided IS {true}"),
        "ix_comments_pending": ([*newest, "lane"], "outcome IS NULL"),
        "ix_comments_judged_lane": (["lane", "queued_at"], "outcome IS NOT NULL"),
    }
    for name, (columns, where) in partial.items():
        op.create_index(
            name,
            "comments",
            columns,
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )


def _make_verdicts() -> None:
    op.create_table(
        "verdicts",
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("outcome", _TEXT, nullable=False),
        sa.Column("p_spam", sa.Double(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("base", sa.Double(), nullable=False),
        sa.Column("model_p_spam", sa.Double()),
        sa.Column("model_contribution", sa.Double(), nullable=False),
        sa.Column("signals", sa.JSON(), nullable=False),
        sa.Column("promo_spans", sa.JSON(), nullable=False),
        sa.Column("model_version", _TEXT, nullable=False),
        sa.Column("ham_cutoff", sa.Double(), nullable=False),
        sa.Column("spam_cutoff", sa.Double(), nullable=False),
        sa.Column("judged_at", _MOMENT, nullable=False),
        sa.Column("degraded_by", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("comment_id", name="pk_verdicts"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_verdicts_comment_id"),
    )


def _make_decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("seq", _SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("ruling", _TEXT, nullable=False),
        sa.Column("decided_by", _TEXT, nullable=False),
        sa.Column("decided_at", _MOMENT, nullable=False),
        sa.Column("note", _TEXT),
        sa.Column("undone_at", _MOMENT),
        sa.Column("undone_by", _TEXT),
        sa.PrimaryKeyConstraint("seq", name="pk_decisions"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_decisions_comment_id"),
        sa.UniqueConstraint("id", name="uq_decisions_id"),
    )
    op.create_index("ix_decisions_comment_id", "decisions", ["comment_id"])


def _make_users() -> None:
    op.create_table(
        "users",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("name_folded", _TEXT, nullable=False),
        sa.Column("password_hash", _TEXT, nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("must_change_password", sa.Boolean(), nullable=False),
        sa.Column("session_epoch", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name_folded", name="uq_users_name_folded"),
    )


def _make_audit_log() -> None:
    op.create_table(
        "audit_log",
        sa.Column("seq", _SEQUENCE, nullable=False, autoincrement=True),
        sa.Column("at", _MOMENT, nullable=False),
        sa.Column("actor", _TEXT, nullable=False),
        sa.Column("act", _TEXT, nullable=False),
        sa.Column("subject", _TEXT, nullable=False),
        sa.Column("detail", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_audit_log"),
    )
    op.create_index("ix_audit_log_subject_seq", "audit_log", ["subject", "seq"])
    if op.get_context().dialect.name == "postgresql":
        op.execute(
            "CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the audit log is only ever appended to'; END $$"
        )
        op.execute(
            "CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE "
            "ON audit_log EXECUTE FUNCTION refuse_change_of_audit_log()"
        )
        return
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER audit_log_refuses_{act.lower()} BEFORE {act} ON audit_log "
            "BEGIN SELECT RAISE(ABORT, 'the audit log is only ever appended to'); END"
        )
