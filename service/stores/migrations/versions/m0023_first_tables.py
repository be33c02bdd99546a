"""Make every table as of version 1.0, but for those that the next migration drops."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "m0023"
down_revision = None
branch_labels = None
depends_on = None

# Frozen copies of the column types of that day: a migration never changes once it was released.
_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TERMS = sa.Text().with_variant(TSVECTOR(), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    _make_people()
    _make_sites()
    _make_comments()
    _make_judgements()
    _make_deliveries()
    _make_versions()
    _make_campaigns()
    _make_figures()
    _make_search()


def _make_people() -> None:
    """Make accounts, their sessions, and the log of acts."""
    op.create_table(
        "users",
        sa.Column("role", _TEXT, nullable=False, server_default="moderator"),
        *_must(_TEXT, "id", "name", "name_folded", "password_hash"),
        *_must(_MOMENT, "created_at"),
        *_must(sa.Boolean(), "must_change_password"),
        *_may(sa.JSON(), "site_ids", "preferences"),
        *_may(_MOMENT, "ended_at"),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("name_folded", name="uq_users_name_folded"),
    )
    op.create_table(
        "user_sessions",
        *_must(_TEXT, "id", "user_id", "browser"),
        *_must(_MOMENT, "created_at", "last_seen_at"),
        *_may(_MOMENT, "ended_at"),
        sa.PrimaryKeyConstraint("id", name="pk_user_sessions"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_user_sessions_user_id"),
    )
    _index("ix_user_sessions_last_seen_at", "user_sessions", "last_seen_at")
    _index("ix_user_sessions_user_id_last_seen_at", "user_sessions", "user_id last_seen_at")
    op.create_table(
        "second_factors",
        *_must(_TEXT, "user_id", "seed"),
        *_must(_MOMENT, "since"),
        *_must(sa.BigInteger(), "last_step"),
        sa.PrimaryKeyConstraint("user_id", name="pk_second_factors"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_second_factors_user_id"),
    )
    op.create_table(
        "recovery_codes",
        *_must(_TEXT, "user_id", "digest"),
        sa.PrimaryKeyConstraint("user_id", "digest", name="pk_recovery_codes"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_recovery_codes_user_id"),
    )
    op.create_table(
        "audit_log",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=True),
        *_must(_MOMENT, "at"),
        *_must(_TEXT, "actor", "act", "subject", "detail"),
        sa.PrimaryKeyConstraint("seq", name="pk_audit_log"),
    )
    _index("ix_audit_log_act_seq", "audit_log", "act seq")
    _index("ix_audit_log_actor_seq", "audit_log", "actor seq")
    _index("ix_audit_log_at_seq", "audit_log", "at seq")
    _index("ix_audit_log_subject_seq", "audit_log", "subject seq")
    _refuse_change_of_audit_log()


def _make_sites() -> None:
    """Make sites, what they may be called by, and whom they are told of."""
    op.create_table(
        "sites",
        *_must(_TEXT, "id", "name"),
        *_must(_MOMENT, "created_at"),
        *_must(sa.JSON(), "settings"),
        sa.PrimaryKeyConstraint("id", name="pk_sites"),
        sa.UniqueConstraint("name", name="uq_sites_name"),
    )
    op.create_table(
        "site_keys",
        *_must(_TEXT, "id", "site_id", "hint", "secret_sha256"),
        *_must(_MOMENT, "created_at"),
        *_may(_MOMENT, "expires_at", "revoked_at"),
        sa.PrimaryKeyConstraint("id", name="pk_site_keys"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_site_keys_site_id"),
        sa.UniqueConstraint("secret_sha256", name="uq_site_keys_secret_sha256"),
    )
    _index("ix_site_keys_site_id", "site_keys", "site_id")
    op.create_table(
        "site_endpoints",
        sa.Column("form", _TEXT, nullable=False, server_default="standard_webhook"),
        *_must(_TEXT, "site_id", "url"),
        *_must(sa.JSON(), "secrets", "events"),
        *_may(_MOMENT, "refused_at", "rests_until", "called_at"),
        sa.PrimaryKeyConstraint("site_id", name="pk_site_endpoints"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_site_endpoints_site_id"),
    )
    op.create_table(
        "applied",
        *_must(_TEXT, "site_id", "site_comment_id"),
        *_must(sa.Boolean(), "certain"),
        *_may(_TEXT, "reference"),
        sa.PrimaryKeyConstraint("site_id", "site_comment_id", name="pk_applied"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_applied_site_id"),
    )
    op.create_table(
        "inbound_hooks",
        *_must(_TEXT, "id", "site_id", "platform", "secret"),
        *_must(_MOMENT, "created_at"),
        *_may(_MOMENT, "revoked_at"),
        sa.PrimaryKeyConstraint("id", name="pk_inbound_hooks"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_inbound_hooks_site_id"),
    )
    _index("ix_inbound_hooks_site_id", "inbound_hooks", "site_id")
    op.create_table(
        "inbound_seen",
        *_must(_TEXT, "hook_id", "delivery_digest"),
        *_must(_MOMENT, "seen_at"),
        sa.PrimaryKeyConstraint("hook_id", "delivery_digest", name="pk_inbound_seen"),
        sa.ForeignKeyConstraint(["hook_id"], ["inbound_hooks.id"], name="fk_inbound_seen_hook_id"),
    )
    _index("ix_inbound_seen_age", "inbound_seen", "hook_id seen_at")
    op.create_table(
        "list_entries",
        *_must(_TEXT, "id", "effect", "kind", "label", "reason", "added_by", "folded"),
        *_may(_TEXT, "site_id", "removed_by", "comment_id"),
        *_must(sa.JSON(), "keys"),
        *_must(_MOMENT, "added_at"),
        *_may(_MOMENT, "expires_at", "removed_at", "last_hit_at"),
        *_must(sa.BigInteger(), "hits"),
        sa.PrimaryKeyConstraint("id", name="pk_list_entries"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_list_entries_site_id"),
    )
    _index("ix_list_entries_newest", "list_entries", "added_at id")
    op.create_table(
        "list_version",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        *_must(sa.BigInteger(), "version"),
        sa.PrimaryKeyConstraint("id", name="pk_list_version"),
    )


def _make_comments() -> None:
    """Make comments."""
    op.create_table(
        "comments",
        *_must(_TEXT, "id", "site_id", "lane", "fingerprint", "text"),
        *_must(_MOMENT, "received_at"),
        *_may(_MOMENT, "queued_at", "written_at", "withdrawn_at", "review_at"),
        *_must(sa.Integer(), "attempts"),
        *_may(
            _TEXT,
            "outcome",
            "idempotency_digest",
            "site_comment_digest",
            "site_comment_id",
            "language",
            "user_agent",
            "reply_to",
            "post_url",
            "post_title",
            "post_excerpt",
            "author_name",
            "author_url",
            "author_account_id",
            "sender_address_key",
            "sender_network_key",
            "sender_email_key",
            "sender_email_domain",
            "reported_as",
            "content_key",
            "sender_wide_network_key",
            "sender_name_key",
            "campaign_id",
            "form_token",
            "sender_account_key",
            "edit",
        ),
        *_may(sa.Boolean(), "degraded", "form_honeypot_filled"),
        *_must(sa.Boolean(), "audit", "decided"),
        *_must(sa.SmallInteger(), "review_rank"),
        *_may(sa.BigInteger(), "author_account_age_days", "author_trust_level", "sender_system"),
        *_may(sa.JSON(), "sender_before_rotation", "sender_listings", "form_behaviour"),
        *_may(sa.Double(), "form_seconds_on_page", "p_spam"),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_comments_site_id"),
        sa.UniqueConstraint("idempotency_digest", name="uq_comments_idempotency_digest"),
        sa.UniqueConstraint("site_comment_digest", name="uq_comments_site_comment_digest"),
    )
    _index(
        "ix_comments_age",
        "comments",
        "outcome received_at id",
        where="outcome IS NOT NULL AND withdrawn_at IS NULL",
    )
    _index(
        "ix_comments_campaign",
        "comments",
        "campaign_id received_at id site_id post_url",
        where="campaign_id IS NOT NULL",
    )
    _index(
        "ix_comments_campaign_waiting",
        "comments",
        "campaign_id received_at id site_id review_rank",
        where="campaign_id IS NOT NULL AND review_rank < 2",
    )
    _index(
        "ix_comments_content",
        "comments",
        "site_id content_key received_at id",
        where="content_key IS NOT NULL",
    )
    _index("ix_comments_judged_lane", "comments", "lane queued_at", where="outcome IS NOT NULL")
    _index("ix_comments_newest", "comments", "received_at id")
    _index(
        "ix_comments_pending",
        "comments",
        "received_at id lane withdrawn_at",
        where="outcome IS NULL",
    )
    _index("ix_comments_post", "comments", "site_id post_url", where="length(post_url) <= 500")
    _index("ix_comments_review", "comments", "review_rank review_at id", where="review_rank < 2")
    _index(
        "ix_comments_sender_address_key",
        "comments",
        "sender_address_key received_at",
        where="sender_address_key IS NOT NULL",
    )
    _index(
        "ix_comments_sender_email_key",
        "comments",
        "sender_email_key received_at",
        where="sender_email_key IS NOT NULL",
    )
    _index(
        "ix_comments_sender_name_key",
        "comments",
        "sender_name_key received_at",
        where="sender_name_key IS NOT NULL",
    )
    _index(
        "ix_comments_sender_network_key",
        "comments",
        "sender_network_key received_at",
        where="sender_network_key IS NOT NULL",
    )
    _index("ix_comments_site_decided", "comments", "site_id received_at id", where=_true("decided"))
    _index("ix_comments_site_newest", "comments", "site_id received_at id")
    _index("ix_comments_site_outcome", "comments", "site_id outcome received_at id")
    _index(
        "ix_comments_site_p_spam",
        "comments",
        "site_id received_at p_spam outcome degraded decided id",
        where="p_spam IS NOT NULL",
    )
    _index(
        "ix_comments_site_review",
        "comments",
        "site_id review_rank review_at id",
        where="review_rank < 2",
    )
    _index("ix_comments_waiting_newest", "comments", "received_at id", where="review_rank < 2")


def _make_judgements() -> None:
    """Make what was said of comments: verdicts, reports, decisions."""
    op.create_table(
        "verdicts",
        *_must(_TEXT, "comment_id", "outcome", "model_version"),
        *_must(
            sa.Double(),
            "p_spam",
            "score",
            "base",
            "model_contribution",
            "ham_cutoff",
            "spam_cutoff",
        ),
        *_may(sa.Double(), "model_p_spam"),
        *_must(sa.JSON(), "signals", "promo_spans", "degraded_by"),
        *_must(_MOMENT, "judged_at"),
        *_may(sa.JSON(), "instruction"),
        sa.PrimaryKeyConstraint("comment_id", name="pk_verdicts"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_verdicts_comment_id"),
    )
    _index("ix_verdicts_instructed", "verdicts", "comment_id", where="instruction IS NOT NULL")
    _index("ix_verdicts_judged", "verdicts", "judged_at model_version")
    op.create_table(
        "reports",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=True),
        *_must(_TEXT, "id", "site_id", "label"),
        *_may(_TEXT, "comment_id", "reported_by"),
        *_must(_MOMENT, "reported_at"),
        sa.PrimaryKeyConstraint("seq", name="pk_reports"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_reports_comment_id"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_reports_site_id"),
        sa.UniqueConstraint("id", name="uq_reports_id"),
    )
    _index("ix_reports_comment_id", "reports", "comment_id")
    op.create_table(
        "strokes",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=True),
        *_must(_TEXT, "id", "what", "ruling", "decided_by"),
        *_must(_MOMENT, "decided_at"),
        *_must(sa.BigInteger(), "n_decided", "n_left_out"),
        *_may(_MOMENT, "undone_at"),
        *_may(_TEXT, "undone_by"),
        sa.PrimaryKeyConstraint("seq", name="pk_strokes"),
        sa.UniqueConstraint("id", name="uq_strokes_id"),
    )
    op.create_table(
        "stroke_sites",
        *_must(_TEXT, "stroke_id", "site_id"),
        sa.PrimaryKeyConstraint("stroke_id", "site_id", name="pk_stroke_sites"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_stroke_sites_site_id"),
        sa.ForeignKeyConstraint(["stroke_id"], ["strokes.id"], name="fk_stroke_sites_stroke_id"),
    )
    op.create_table(
        "decisions",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=True),
        *_must(_TEXT, "id", "comment_id", "ruling", "decided_by"),
        *_must(_MOMENT, "decided_at"),
        *_may(_TEXT, "note", "undone_by", "stroke_id"),
        *_may(_MOMENT, "undone_at", "unremembered_since"),
        *_may(sa.Double(), "seconds"),
        sa.PrimaryKeyConstraint("seq", name="pk_decisions"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_decisions_comment_id"),
        sa.UniqueConstraint("id", name="uq_decisions_id"),
    )
    _index("ix_decisions_comment_id", "decisions", "comment_id")
    _index(
        "ix_decisions_stroke",
        "decisions",
        "stroke_id seq",
        where="stroke_id IS NOT NULL AND undone_at IS NULL",
    )
    _index(
        "ix_decisions_unremembered",
        "decisions",
        "unremembered_since seq",
        where="unremembered_since IS NOT NULL",
    )
    op.create_table(
        "claims",
        *_must(_TEXT, "comment_id", "user_id", "user_name"),
        *_must(_MOMENT, "since", "until"),
        sa.PrimaryKeyConstraint("comment_id", name="pk_claims"),
    )
    _index("ix_claims_user_id", "claims", "user_id")


def _make_deliveries() -> None:
    """Make what sites are told."""
    op.create_table(
        "deliveries",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=True),
        sa.Column("corrects_told", sa.Boolean(), nullable=False, server_default=sa.false()),
        *_must(_TEXT, "id", "site_id", "comment_id", "event", "form", "url", "payload", "state"),
        *_must(_MOMENT, "created_at"),
        *_must(sa.Integer(), "attempts"),
        *_may(_MOMENT, "next_try_at", "ended_at", "due_at", "lent_until"),
        *_may(_TEXT, "decision_id"),
        sa.PrimaryKeyConstraint("seq", name="pk_deliveries"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_deliveries_comment_id"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_deliveries_site_id"),
        sa.UniqueConstraint("id", name="uq_deliveries_id"),
    )
    _index("ix_deliveries_decision", "deliveries", "decision_id", where="decision_id IS NOT NULL")
    _index("ix_deliveries_delivered", "deliveries", "ended_at seq", where="state = 'delivered'")
    _index("ix_deliveries_due", "deliveries", "due_at seq", where="due_at IS NOT NULL")
    _index("ix_deliveries_line", "deliveries", "comment_id seq", where="state = 'waiting'")
    _index("ix_deliveries_site", "deliveries", "site_id seq")
    _index(
        "ix_deliveries_site_undelivered",
        "deliveries",
        "site_id state seq",
        where="state != 'delivered'",
    )
    _index("ix_deliveries_undelivered", "deliveries", "state seq", where="state != 'delivered'")
    _index(
        "uq_deliveries_first_in_line",
        "deliveries",
        "comment_id",
        where="due_at IS NOT NULL",
        unique=True,
    )
    op.create_table(
        "delivery_attempts",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=True),
        *_must(_TEXT, "delivery_id"),
        *_must(_MOMENT, "at"),
        *_must(sa.BigInteger(), "milliseconds"),
        *_may(sa.Integer(), "status"),
        *_may(_TEXT, "problem"),
        sa.PrimaryKeyConstraint("seq", name="pk_delivery_attempts"),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["deliveries.id"], name="fk_delivery_attempts_delivery_id"
        ),
    )
    _index("ix_delivery_attempts_delivery_id", "delivery_attempts", "delivery_id")


def _make_versions() -> None:
    """Make what becomes of retrainings."""
    op.create_table(
        "retrainings",
        *_must(_TEXT, "id", "asked_by", "state", "step", "decisions_sha256"),
        *_must(_MOMENT, "asked_at"),
        *_must(sa.JSON(), "options"),
        *_may(_MOMENT, "started_at", "seen_at", "ended_at", "answered_at"),
        *_must(sa.Float(), "share_done"),
        *_may(sa.Float(), "seconds_left"),
        *_must(sa.BigInteger(), "decisions"),
        *_may(_TEXT, "version", "recommendation", "problem", "answer", "answered_by"),
        *_may(sa.JSON(), "summary"),
        sa.PrimaryKeyConstraint("id", name="pk_retrainings"),
    )
    _index("ix_retrainings_asked_at", "retrainings", "asked_at")
    op.create_table(
        "retraining_lease",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        *_must(_TEXT, "holder"),
        *_must(_MOMENT, "until"),
        sa.PrimaryKeyConstraint("id", name="pk_retraining_lease"),
    )


def _make_campaigns() -> None:
    """Make campaigns, and by what comments are found alike."""
    op.create_table(
        "campaigns",
        *_must(_TEXT, "id"),
        *_must(_MOMENT, "created_at", "last_seen_at"),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
    )
    op.create_table(
        "grouping_lease",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        *_must(_TEXT, "holder"),
        *_must(_MOMENT, "until"),
        sa.PrimaryKeyConstraint("id", name="pk_grouping_lease"),
    )
    op.create_table(
        "comment_traits",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=True),
        *_must(_TEXT, "comment_id", "space"),
        *_may(sa.LargeBinary(), "embedding"),
        *_must(sa.JSON(), "targets", "copies"),
        *_may(_MOMENT, "grouped_at"),
        *_may(_TEXT, "left_campaign_id"),
        sa.PrimaryKeyConstraint("seq", name="pk_comment_traits"),
        sa.ForeignKeyConstraint(
            ["comment_id"], ["comments.id"], name="fk_comment_traits_comment_id"
        ),
        sa.UniqueConstraint("comment_id", name="uq_comment_traits_comment_id"),
    )
    _index("ix_comment_traits_fresh", "comment_traits", "seq", where="grouped_at IS NULL")
    _index(
        "ix_comment_traits_left",
        "comment_traits",
        "left_campaign_id",
        where="left_campaign_id IS NOT NULL",
    )


def _make_figures() -> None:
    """Make what a readiness check writes."""
    op.create_table(
        "write_probe",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        *_must(_MOMENT, "at"),
        sa.PrimaryKeyConstraint("id", name="pk_write_probe"),
    )


def _make_search() -> None:
    """Make the search."""
    op.create_table(
        "search_due",
        *_must(_TEXT, "comment_id"),
        sa.PrimaryKeyConstraint("comment_id", name="pk_search_due"),
    )
    op.create_table(
        "search_docs",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=False),
        *_must(_TEXT, "comment_id", "site_id"),
        *_must(_TERMS, "terms"),
        sa.PrimaryKeyConstraint("seq", name="pk_search_docs"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_search_docs_comment_id"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_search_docs_site_id"),
        sa.UniqueConstraint("comment_id", name="uq_search_docs_comment_id"),
    )
    if op.get_context().dialect.name == "postgresql":
        op.create_index("ix_search_docs_terms", "search_docs", ["terms"], postgresql_using="gin")
        return
    # Beginnings of three letters, after the letter for the kind, have an index of their own:
    # FTS5 would merge all words that begin so before it yields the first comment.
    # The words come folded already, so that only ASCII's separators matter to the tokenizer.
    op.execute(
        "CREATE VIRTUAL TABLE search_fts USING fts5("
        "terms, content='search_docs', content_rowid='seq', columnsize=0, prefix='4', "
        "tokenize=\"ascii tokenchars '._-'\")"
    )


def _refuse_change_of_audit_log() -> None:
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


def _must(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]


def _may(kind: Any, *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind) for name in names]


def _index(
    name: str, table: str, columns: str, *, where: str | None = None, unique: bool = False
) -> None:
    """Make an index; `where` makes it partial."""
    condition = None if where is None else sa.text(where)
    op.create_index(
        name,
        table,
        columns.split(),
        unique=unique,
        sqlite_where=condition,
        postgresql_where=condition,
    )


def _true(column: str) -> str:
    """Return the condition that a column is true, in this database's words."""
    return f"{column} IS {'true' if op.get_context().dialect.name == 'postgresql' else '1'}"
