"""The tables, as the newest migration leaves them; README.md says why each index is there."""

from __future__ import annotations

import sqlalchemy as sa

from service.stores.cursor import REST_RANK
from service.stores.sql.types import LosslessText, UtcDateTime

metadata = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# SQLite numbers rows by itself only where the key's type is exactly INTEGER.
_Sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

sites = sa.Table(
    "sites",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("name", LosslessText, nullable=False, unique=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
)

site_keys = sa.Table(
    "site_keys",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False, index=True),
    sa.Column("hint", LosslessText, nullable=False),
    sa.Column("secret_sha256", LosslessText, nullable=False, unique=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime),
    sa.Column("revoked_at", UtcDateTime),
)

comments = sa.Table(
    "comments",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("received_at", UtcDateTime, nullable=False),
    # How far it has come; kept in step with verdicts and decisions in the same transactions, so
    # that no list has to join them.
    sa.Column("lane", LosslessText, nullable=False),
    sa.Column("queued_at", UtcDateTime),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("outcome", LosslessText),
    sa.Column("degraded", sa.Boolean),
    sa.Column("audit", sa.Boolean, nullable=False),
    sa.Column("decided", sa.Boolean, nullable=False),
    sa.Column("review_rank", sa.SmallInteger, nullable=False),
    # What makes repeats recognisable.
    sa.Column("fingerprint", LosslessText, nullable=False),
    sa.Column("idempotency_digest", LosslessText, unique=True),
    sa.Column("site_comment_digest", LosslessText, unique=True),
    # What the site sent.
    sa.Column("text", LosslessText, nullable=False),
    sa.Column("site_comment_id", LosslessText),
    sa.Column("written_at", UtcDateTime),
    sa.Column("language", LosslessText),
    sa.Column("user_agent", LosslessText),
    sa.Column("reply_to", LosslessText),
    sa.Column("post_url", LosslessText),
    sa.Column("post_title", LosslessText),
    sa.Column("post_excerpt", LosslessText),
    sa.Column("author_name", LosslessText),
    sa.Column("author_url", LosslessText),
    sa.Column("author_account_id", LosslessText),
    sa.Column("author_account_age_days", sa.BigInteger),
    sa.Column("sender_address_key", LosslessText),
    sa.Column("sender_network_key", LosslessText),
    sa.Column("sender_email_key", LosslessText),
    sa.Column("sender_email_domain", LosslessText),
)


# A partial index serves a query only if the query says the same in so many words, hence no bound
# parameters here.
waits_for_review = comments.c.review_rank < sa.literal_column(str(REST_RANK))
has_no_verdict = comments.c.outcome.is_(None)
has_verdict = comments.c.outcome.is_not(None)
is_decided = comments.c.decided.is_(True)


def _partial_index(name: str, *columns: sa.Column[object], where: sa.ColumnElement[bool]) -> None:
    sa.Index(name, *columns, sqlite_where=where, postgresql_where=where)


_c = comments.c
sa.Index("ix_comments_newest", _c.received_at, _c.id)
sa.Index("ix_comments_site_newest", _c.site_id, _c.received_at, _c.id)
_partial_index("ix_comments_review", _c.review_rank, _c.received_at, _c.id, where=waits_for_review)
_partial_index(
    "ix_comments_site_review",
    _c.site_id,
    _c.review_rank,
    _c.received_at,
    _c.id,
    where=waits_for_review,
)
sa.Index("ix_comments_site_outcome", _c.site_id, _c.outcome, _c.received_at, _c.id)
_partial_index("ix_comments_site_decided", _c.site_id, _c.received_at, _c.id, where=is_decided)
_partial_index("ix_comments_pending", _c.received_at, _c.id, _c.lane, where=has_no_verdict)
_partial_index("ix_comments_judged_lane", _c.lane, _c.queued_at, where=has_verdict)

verdicts = sa.Table(
    "verdicts",
    metadata,
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), primary_key=True),
    sa.Column("outcome", LosslessText, nullable=False),
    sa.Column("p_spam", sa.Double, nullable=False),
    sa.Column("score", sa.Double, nullable=False),
    sa.Column("base", sa.Double, nullable=False),
    sa.Column("model_p_spam", sa.Double),
    sa.Column("model_contribution", sa.Double, nullable=False),
    sa.Column("signals", sa.JSON, nullable=False),
    sa.Column("promo_spans", sa.JSON, nullable=False),
    sa.Column("model_version", LosslessText, nullable=False),
    sa.Column("ham_cutoff", sa.Double, nullable=False),
    sa.Column("spam_cutoff", sa.Double, nullable=False),
    sa.Column("judged_at", UtcDateTime, nullable=False),
    sa.Column("degraded_by", sa.JSON, nullable=False),
)

decisions = sa.Table(
    "decisions",
    metadata,
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", LosslessText, nullable=False, unique=True),
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False, index=True),
    sa.Column("ruling", LosslessText, nullable=False),
    sa.Column("decided_by", LosslessText, nullable=False),
    sa.Column("decided_at", UtcDateTime, nullable=False),
    sa.Column("note", LosslessText),
    sa.Column("undone_at", UtcDateTime),
    sa.Column("undone_by", LosslessText),
)

users = sa.Table(
    "users",
    metadata,
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("name", LosslessText, nullable=False),
    sa.Column("name_folded", LosslessText, nullable=False, unique=True),
    sa.Column("password_hash", LosslessText, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("must_change_password", sa.Boolean, nullable=False),
    sa.Column("session_epoch", sa.Integer, nullable=False),
)

audit_log = sa.Table(
    "audit_log",
    metadata,
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("actor", LosslessText, nullable=False),
    sa.Column("act", LosslessText, nullable=False),
    sa.Column("subject", LosslessText, nullable=False),
    sa.Column("detail", LosslessText, nullable=False),
    sa.Index("ix_audit_log_subject_seq", "subject", "seq"),
)
