"""The tables as of the newest migration; TABLES.md explains each index."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TSVECTOR

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.decision import EDIT_POLICY, Mode
from service.domain.published import MAX_POST_CHARS
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

# SQLite generates row ids, and FTS5 refers to them, only for keys of type exactly INTEGER.
_Sequence = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _table(name: str, *parts: sa.Column[Any] | sa.Index) -> sa.Table:
    return sa.Table(name, metadata, *parts)


sites = _table(
    "sites",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("name", LosslessText, nullable=False, unique=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
)

site_keys = _table(
    "site_keys",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False, index=True),
    sa.Column("hint", LosslessText, nullable=False),
    sa.Column("secret_sha256", LosslessText, nullable=False, unique=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime),
    sa.Column("revoked_at", UtcDateTime),
)

comments = _table(
    "comments",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("received_at", UtcDateTime, nullable=False),
    # Updated together with verdicts and decisions, so that lists need no join.
    sa.Column("lane", LosslessText, nullable=False),
    sa.Column("queued_at", UtcDateTime),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("outcome", LosslessText),
    sa.Column("degraded", sa.Boolean),
    sa.Column("p_spam", sa.Double),
    sa.Column("audit", sa.Boolean, nullable=False),
    sa.Column("decided", sa.Boolean, nullable=False),
    sa.Column("review_rank", sa.SmallInteger, nullable=False),
    # Never empty; nullable because SQLite can only add nullable columns to a table with rows.
    sa.Column("review_at", UtcDateTime),
    sa.Column("reported_as", LosslessText),
    sa.Column("withdrawn_at", UtcDateTime),
    # No foreign key, because SQLite could not drop the column again.
    sa.Column("campaign_id", LosslessText),
    # Identifies repeated comments.
    sa.Column("fingerprint", LosslessText, nullable=False),
    sa.Column("idempotency_digest", LosslessText, unique=True),
    sa.Column("site_comment_digest", LosslessText, unique=True),
    # Reports find the comment by it; NULL once the text is deleted.
    sa.Column("content_key", LosslessText),
    # Fields as the site sent them.
    sa.Column("text", LosslessText, nullable=False),
    sa.Column("site_comment_id", LosslessText),
    sa.Column("written_at", UtcDateTime),
    sa.Column("language", LosslessText),
    sa.Column("user_agent", LosslessText),
    sa.Column("reply_to", LosslessText),
    sa.Column("post_url", LosslessText),
    sa.Column("post_title", LosslessText),
    sa.Column("post_excerpt", LosslessText),
    sa.Column("post_published_at", UtcDateTime),
    sa.Column("author_name", LosslessText),
    sa.Column("author_url", LosslessText),
    sa.Column("author_account_id", LosslessText),
    sa.Column("author_account_age_days", sa.BigInteger),
    sa.Column("author_trust_level", sa.BigInteger),
    sa.Column("sender_address_key", LosslessText),
    sa.Column("sender_network_key", LosslessText),
    sa.Column("sender_wide_network_key", LosslessText),
    sa.Column("sender_system", sa.BigInteger),
    sa.Column("sender_email_key", LosslessText),
    sa.Column("sender_email_domain", LosslessText),
    sa.Column("sender_name_key", LosslessText),
    sa.Column("sender_account_key", LosslessText),
    sa.Column("sender_before_rotation", sa.JSON(none_as_null=True)),
    sa.Column("sender_listings", sa.JSON(none_as_null=True)),
    sa.Column("form_seconds_on_page", sa.Double),
    sa.Column("form_honeypot_filled", sa.Boolean),
    sa.Column("form_behaviour", sa.JSON(none_as_null=True)),
    sa.Column("form_token", LosslessText),
    # Set for anything but a typed comment, see `CommentKind`.
    sa.Column("kind", LosslessText),
    # Set for edits, see `Edit`.
    sa.Column("edit", LosslessText),
    # Digests of the text that a user decided on before the edit, see `RuledText`.
    sa.Column("ruled_text", sa.JSON(none_as_null=True)),
    # The second judge's `attempts`, `outcome` and `reason`.
    sa.Column("second_opinion", sa.JSON(none_as_null=True)),
    # The author's appeal against being held or rejected. `review_rank` shows if it is open.
    sa.Column("appeal", LosslessText),
    sa.Column("appealed_at", UtcDateTime),
)


# Deletions of comments that have not arrived yet.
early_deletions = _table(
    "early_deletions",
    # Digest of the site's own id, see `site_comment_digest()` in comments.py.
    sa.Column("site_comment_digest", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("deleted_at", UtcDateTime, nullable=False),
    sa.Column("noted_at", UtcDateTime, nullable=False),
    sa.Index("ix_early_deletions_age", "site_id", "noted_at"),
)


# A partial index serves only queries that repeat its condition literally, hence no bound
# parameters.
waits_for_review = comments.c.review_rank < sa.literal_column(str(REST_RANK))
is_undecided_spam = sa.and_(
    comments.c.outcome == sa.literal_column("'spam'"),
    comments.c.review_rank == sa.literal_column(str(REST_RANK)),
    comments.c.decided.is_(False),
    comments.c.withdrawn_at.is_(None),
)
is_held_as_spam = sa.and_(
    is_undecided_spam,
    comments.c.site_id.in_(
        sa.select(sites.c.id).where(sites.c.settings["mode"].as_string() == Mode.HOLD.value)
    ),
)
has_no_verdict = comments.c.outcome.is_(None)
waits_for_verdict = sa.and_(has_no_verdict, comments.c.withdrawn_at.is_(None))
has_verdict = comments.c.outcome.is_not(None)
has_p_spam = comments.c.p_spam.is_not(None)
is_kept_and_judged = sa.and_(has_verdict, comments.c.withdrawn_at.is_(None))
is_decided = comments.c.decided.is_(True)
# Longer values, which strangers may send, exceed an index's limit.
has_short_post_url = sa.func.length(comments.c.post_url) <= sa.literal_column(str(MAX_POST_CHARS))


def _partial_index(
    name: str, table: sa.Table, columns: str, *, where: sa.ColumnElement[bool], unique: bool = False
) -> None:
    indexed = (table.c[column] for column in columns.split())
    sa.Index(name, *indexed, unique=unique, sqlite_where=where, postgresql_where=where)


_c = comments.c
sa.Index("ix_comments_newest", _c.received_at, _c.id)
sa.Index("ix_comments_site_newest", _c.site_id, _c.received_at, _c.id)
_partial_index("ix_comments_review", comments, "review_rank review_at id", where=waits_for_review)
_partial_index(
    "ix_comments_site_review", comments, "site_id review_rank review_at id", where=waits_for_review
)
_partial_index("ix_comments_waiting_newest", comments, "received_at id", where=waits_for_review)
# Covers counting and sorting the list of held spam.
_partial_index(
    "ix_comments_undecided_spam", comments, "site_id p_spam received_at id", where=is_undecided_spam
)
sa.Index("ix_comments_site_outcome", _c.site_id, _c.outcome, _c.received_at, _c.id)
_partial_index("ix_comments_site_decided", comments, "site_id received_at id", where=is_decided)
_partial_index(
    "ix_comments_pending", comments, "received_at id lane withdrawn_at", where=has_no_verdict
)
_partial_index("ix_comments_judged_lane", comments, "lane queued_at", where=has_verdict)
# Covers the preview of cutoffs, which then reads no comments.
_partial_index(
    "ix_comments_site_p_spam",
    comments,
    "site_id received_at p_spam outcome degraded decided id",
    where=has_p_spam,
)
_partial_index("ix_comments_age", comments, "outcome received_at id", where=is_kept_and_judged)
_partial_index("ix_comments_post", comments, "site_id post_url", where=has_short_post_url)
# Covers the counts of an author's undecided comments.
_partial_index(
    "ix_comments_account",
    comments,
    "sender_account_key outcome decided received_at",
    where=_c.sender_account_key.is_not(None),
)
_partial_index(
    "ix_comments_content",
    comments,
    "site_id content_key received_at id",
    where=_c.content_key.is_not(None),
)

verdicts = _table(
    "verdicts",
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
    sa.Column("instruction", sa.JSON(none_as_null=True)),
    # The site's rules that changed ham to unsure.
    sa.Column("held_by", sa.JSON(none_as_null=True)),
    # Counts verdicts by version and day without reading the verdicts.
    sa.Index("ix_verdicts_judged", "judged_at", "model_version"),
)
_partial_index("ix_verdicts_held", verdicts, "comment_id", where=verdicts.c.held_by.is_not(None))
# Verdicts that follow a list entry; there are few.
_is_instructed = verdicts.c.instruction.is_not(None)
_partial_index("ix_verdicts_instructed", verdicts, "comment_id", where=_is_instructed)

decisions = _table(
    "decisions",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", LosslessText, nullable=False, unique=True),
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False, index=True),
    sa.Column("ruling", LosslessText, nullable=False),
    sa.Column("decided_by", LosslessText, nullable=False),
    sa.Column("decided_at", UtcDateTime, nullable=False),
    sa.Column("note", LosslessText),
    sa.Column("undone_at", UtcDateTime),
    sa.Column("undone_by", LosslessText),
    # Since when the histories lack the decision or its undoing; NULL once they have it.
    sa.Column("unremembered_since", UtcDateTime),
    # The bulk decision's id.
    sa.Column("stroke_id", LosslessText),
)
is_in_force = sa.and_(decisions.c.comment_id == comments.c.id, decisions.c.undone_at.is_(None))
# The SQL form of the property `is_by_person`: no policy decided.
is_by_person = sa.and_(
    decisions.c.decided_by != CAMPAIGN_POLICY,
    sa.not_(decisions.c.decided_by.startswith(EDIT_POLICY, autoescape=True)),
)

is_of_bulk_decision_in_force = sa.and_(
    decisions.c.stroke_id.is_not(None), decisions.c.undone_at.is_(None)
)
_partial_index(
    "ix_decisions_stroke", decisions, "stroke_id seq", where=is_of_bulk_decision_in_force
)

is_unremembered = decisions.c.unremembered_since.is_not(None)
_partial_index(
    "ix_decisions_unremembered", decisions, "unremembered_since seq", where=is_unremembered
)

reports = _table(
    "reports",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", LosslessText, nullable=False, unique=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), index=True),
    sa.Column("label", LosslessText, nullable=False),
    sa.Column("reported_at", UtcDateTime, nullable=False),
    sa.Column("reported_by", LosslessText),
)

users = _table(
    "users",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("name", LosslessText, nullable=False),
    sa.Column("name_folded", LosslessText, nullable=False, unique=True),
    sa.Column("password_hash", LosslessText, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("must_change_password", sa.Boolean, nullable=False),
    sa.Column("role", LosslessText, nullable=False, server_default="moderator"),
    sa.Column("site_ids", sa.JSON(none_as_null=True)),
    sa.Column("preferences", sa.JSON(none_as_null=True)),
    sa.Column("ended_at", UtcDateTime),
)

audit_log = _table(
    "audit_log",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("actor", LosslessText, nullable=False),
    sa.Column("act", LosslessText, nullable=False),
    sa.Column("subject", LosslessText, nullable=False),
    sa.Column("detail", LosslessText, nullable=False),
    sa.Index("ix_audit_log_subject_seq", "subject", "seq"),
    sa.Index("ix_audit_log_actor_seq", "actor", "seq"),
    sa.Index("ix_audit_log_act_seq", "act", "seq"),
    sa.Index("ix_audit_log_at_seq", "at", "seq"),
)


def _after_create(table: sa.Table, dialect: str, statement: str) -> None:
    ddl = sa.DDL(statement)  # type: ignore[no-untyped-call]  # SQLAlchemy leaves it untyped.
    sa.event.listen(table, "after_create", ddl.execute_if(dialect=dialect))


_after_create(
    audit_log,
    "postgresql",
    "CREATE FUNCTION refuse_change_of_audit_log() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'the audit log is only ever appended to'; END $$",
)
_after_create(
    audit_log,
    "postgresql",
    "CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE "
    "ON audit_log EXECUTE FUNCTION refuse_change_of_audit_log()",
)
for _act in ("UPDATE", "DELETE"):
    _after_create(
        audit_log,
        "sqlite",
        f"CREATE TRIGGER audit_log_refuses_{_act.lower()} BEFORE {_act} ON audit_log "
        "BEGIN SELECT RAISE(ABORT, 'the audit log is only ever appended to'); END",
    )

site_endpoints = _table(
    "site_endpoints",
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("url", LosslessText, nullable=False),
    sa.Column("secrets", sa.JSON, nullable=False),
    sa.Column("events", sa.JSON, nullable=False),
    sa.Column("form", LosslessText, nullable=False, server_default="standard_webhook"),
    sa.Column("refused_at", UtcDateTime),
    sa.Column("rests_until", UtcDateTime),
    sa.Column("called_at", UtcDateTime),
)

applied = _table(
    "applied",
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), primary_key=True),
    sa.Column("site_comment_id", LosslessText, primary_key=True),
    sa.Column("certain", sa.Boolean, nullable=False),
)

deliveries = _table(
    "deliveries",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", LosslessText, nullable=False, unique=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False),
    sa.Column("event", LosslessText, nullable=False),
    sa.Column("form", LosslessText, nullable=False),
    sa.Column("url", LosslessText, nullable=False),
    sa.Column("payload", LosslessText, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("state", LosslessText, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("next_try_at", UtcDateTime),
    sa.Column("ended_at", UtcDateTime),
    # Only the first of a comment's waiting deliveries has a `due_at`, from which it may be leased.
    # While it is leased, both columns hold the end of the lease.
    sa.Column("due_at", UtcDateTime),
    sa.Column("lent_until", UtcDateTime),
    # The decision whose undoing withdraws the delivery, until the first attempt.
    sa.Column("decision_id", LosslessText),
    sa.Column("corrects_told", sa.Boolean, nullable=False, server_default=sa.false()),
)

is_first_in_line = deliveries.c.due_at.is_not(None)
is_waiting = deliveries.c.state == sa.literal_column("'waiting'")
is_delivered = deliveries.c.state == sa.literal_column("'delivered'")
is_undelivered = deliveries.c.state != sa.literal_column("'delivered'")

_d = deliveries.c
_partial_index("ix_deliveries_due", deliveries, "due_at seq", where=is_first_in_line)
# At most one delivery of a comment can be leased.
_partial_index(
    "uq_deliveries_first_in_line", deliveries, "comment_id", where=is_first_in_line, unique=True
)
_partial_index("ix_deliveries_line", deliveries, "comment_id seq", where=is_waiting)
sa.Index("ix_deliveries_site", _d.site_id, _d.seq)
_partial_index("ix_deliveries_undelivered", deliveries, "state seq", where=is_undelivered)
_partial_index(
    "ix_deliveries_site_undelivered", deliveries, "site_id state seq", where=is_undelivered
)
_partial_index(
    "ix_deliveries_decision", deliveries, "decision_id", where=_d.decision_id.is_not(None)
)
_partial_index("ix_deliveries_delivered", deliveries, "ended_at seq", where=is_delivered)

delivery_attempts = _table(
    "delivery_attempts",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column(
        "delivery_id", LosslessText, sa.ForeignKey("deliveries.id"), nullable=False, index=True
    ),
    sa.Column("at", UtcDateTime, nullable=False),
    sa.Column("milliseconds", sa.BigInteger, nullable=False),
    sa.Column("status", sa.Integer),
    sa.Column("problem", LosslessText),
)

inbound_hooks = _table(
    "inbound_hooks",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False, index=True),
    sa.Column("platform", LosslessText, nullable=False),
    sa.Column("secret", LosslessText, nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("revoked_at", UtcDateTime),
)

inbound_seen = _table(
    "inbound_seen",
    sa.Column("hook_id", LosslessText, sa.ForeignKey("inbound_hooks.id"), primary_key=True),
    # A digest, because the sender chooses the id, which may be long.
    sa.Column("delivery_digest", LosslessText, primary_key=True),
    sa.Column("seen_at", UtcDateTime, nullable=False),
    sa.Index("ix_inbound_seen_age", "hook_id", "seen_at"),
)

# One row, written to test that the database accepts writes.
write_probe = _table(
    "write_probe",
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", UtcDateTime, nullable=False),
)

user_sessions = _table(
    "user_sessions",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("user_id", LosslessText, sa.ForeignKey("users.id"), nullable=False),
    sa.Column("created_at", UtcDateTime, nullable=False),
    sa.Column("last_seen_at", UtcDateTime, nullable=False, index=True),
    sa.Column("browser", LosslessText, nullable=False),
    sa.Column("ended_at", UtcDateTime),
    sa.Index("ix_user_sessions_user_id_last_seen_at", "user_id", "last_seen_at"),
)

second_factors = _table(
    "second_factors",
    sa.Column("user_id", LosslessText, sa.ForeignKey("users.id"), primary_key=True),
    sa.Column("seed", LosslessText, nullable=False),
    sa.Column("since", UtcDateTime, nullable=False),
    sa.Column("last_step", sa.BigInteger, nullable=False),
)

recovery_codes = _table(
    "recovery_codes",
    sa.Column("user_id", LosslessText, sa.ForeignKey("users.id"), primary_key=True),
    sa.Column("digest", LosslessText, primary_key=True),
)

# No foreign keys: a claim must not prevent deleting a comment or an account.
claims = _table(
    "claims",
    sa.Column("comment_id", LosslessText, primary_key=True),
    sa.Column("user_id", LosslessText, nullable=False, index=True),
    sa.Column("user_name", LosslessText, nullable=False),
    sa.Column("since", UtcDateTime, nullable=False),
    sa.Column("until", UtcDateTime, nullable=False),
)

strokes = _table(
    "strokes",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", LosslessText, nullable=False, unique=True),
    sa.Column("what", LosslessText, nullable=False),
    sa.Column("ruling", LosslessText, nullable=False),
    sa.Column("decided_by", LosslessText, nullable=False),
    sa.Column("decided_at", UtcDateTime, nullable=False),
    # Updated in the transactions of its decisions.
    sa.Column("n_decided", sa.BigInteger, nullable=False),
    sa.Column("n_left_out", sa.BigInteger, nullable=False),
    sa.Column("undone_at", UtcDateTime),
    sa.Column("undone_by", LosslessText),
)

stroke_sites = _table(
    "stroke_sites",
    sa.Column("stroke_id", LosslessText, sa.ForeignKey("strokes.id"), primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), primary_key=True),
)

comment_traits = _table(
    "comment_traits",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=True),
    sa.Column(
        "comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False, unique=True
    ),
    # One signed byte per number; the vector is of unit length, so no scale is stored.
    sa.Column("embedding", sa.LargeBinary),
    sa.Column("space", LosslessText, nullable=False),
    sa.Column("targets", sa.JSON, nullable=False),
    sa.Column("copies", sa.JSON, nullable=False),
    # NULL until the comment has been compared with others.
    sa.Column("grouped_at", UtcDateTime),
    # The campaign that a moderator removed it from.
    sa.Column("left_campaign_id", LosslessText),
)

campaigns = _table(
    "campaigns",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("created_at", UtcDateTime, nullable=False),
    # Includes former members; sorts the list and is not displayed.
    sa.Column("last_seen_at", UtcDateTime, nullable=False),
)


def _lease(name: str) -> sa.Table:
    """Return a table with one row: the holder of a lease and its end."""
    return _table(
        name,
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("holder", LosslessText, nullable=False),
        sa.Column("until", UtcDateTime, nullable=False),
    )


grouping_lease = _lease("grouping_lease")
retraining_lease = _lease("retraining_lease")

is_fresh = comment_traits.c.grouped_at.is_(None)
has_left = comment_traits.c.left_campaign_id.is_not(None)
is_member = comments.c.campaign_id.is_not(None)
is_waiting_member = sa.and_(is_member, waits_for_review)

# The last column makes each index cover the counting queries.
_partial_index(
    "ix_comments_campaign", comments, "campaign_id received_at id site_id post_url", where=is_member
)
_partial_index(
    "ix_comments_campaign_waiting",
    comments,
    "campaign_id received_at id site_id review_rank",
    where=is_waiting_member,
)
_partial_index("ix_comment_traits_fresh", comment_traits, "seq", where=is_fresh)
_partial_index("ix_comment_traits_left", comment_traits, "left_campaign_id", where=has_left)

list_entries = _table(
    "list_entries",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id")),
    sa.Column("effect", LosslessText, nullable=False),
    sa.Column("kind", LosslessText, nullable=False),
    sa.Column("label", LosslessText, nullable=False),
    sa.Column("keys", sa.JSON, nullable=False),
    sa.Column("reason", LosslessText, nullable=False),
    sa.Column("added_by", LosslessText, nullable=False),
    sa.Column("added_at", UtcDateTime, nullable=False),
    sa.Column("expires_at", UtcDateTime),
    sa.Column("removed_at", UtcDateTime),
    sa.Column("removed_by", LosslessText),
    # No foreign key: an entry outlives the comment that it was created from.
    sa.Column("comment_id", LosslessText),
    sa.Column("hits", sa.BigInteger, nullable=False),
    sa.Column("last_hit_at", UtcDateTime),
    # Label, reason and creator, folded, for moderators' search.
    sa.Column("folded", LosslessText, nullable=False),
    sa.Index("ix_list_entries_newest", "added_at", "id"),
)

# One row, none before the first entry; each change of an entry locks and increments it.
list_version = _table(
    "list_version",
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.BigInteger, nullable=False),
)

retrainings = _table(
    "retrainings",
    sa.Column("id", LosslessText, primary_key=True),
    sa.Column("asked_by", LosslessText, nullable=False),
    sa.Column("asked_at", UtcDateTime, nullable=False),
    sa.Column("options", sa.JSON, nullable=False),
    sa.Column("state", LosslessText, nullable=False),
    sa.Column("started_at", UtcDateTime),
    # The time of the last reported progress.
    sa.Column("seen_at", UtcDateTime),
    sa.Column("ended_at", UtcDateTime),
    sa.Column("step", LosslessText, nullable=False),
    sa.Column("share_done", sa.Float, nullable=False),
    sa.Column("decisions", sa.BigInteger, nullable=False),
    sa.Column("decisions_sha256", LosslessText, nullable=False),
    sa.Column("summary", sa.JSON),
    sa.Column("problem", LosslessText),
    sa.Column("answer", LosslessText),
    sa.Column("answered_by", LosslessText),
    sa.Column("answered_at", UtcDateTime),
    sa.Index("ix_retrainings_asked_at", "asked_at"),
)

# Comments that upkeep must index for the search: new or judged since the last run.
search_due = _table(
    "search_due",
    # No foreign key, because its check would slow down intake.
    sa.Column("comment_id", LosslessText, primary_key=True),
)

# `seq` encodes the time of arrival, so that the index yields the newest first.
search_docs = _table(
    "search_docs",
    sa.Column("seq", _Sequence, primary_key=True, autoincrement=False),
    sa.Column(
        "comment_id", LosslessText, sa.ForeignKey("comments.id"), nullable=False, unique=True
    ),
    sa.Column("site_id", LosslessText, sa.ForeignKey("sites.id"), nullable=False),
    sa.Column("terms", sa.Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
)

# Prefixes of three letters after the kind's letter are indexed; otherwise FTS5 would merge all
# words with the prefix. The words are folded, so the tokenizer only needs ASCII separators.
_after_create(
    search_docs,
    "sqlite",
    "CREATE VIRTUAL TABLE search_fts USING fts5("
    "terms, content='search_docs', content_rowid='seq', columnsize=0, prefix='4', "
    "tokenize=\"ascii tokenchars '._-'\")",
)
_after_create(
    search_docs, "postgresql", "CREATE INDEX ix_search_docs_terms ON search_docs USING gin (terms)"
)

# Find a sender's other comments, newest first.
for _name in ("sender_address_key", "sender_network_key", "sender_email_key", "sender_name_key"):
    _partial_index(
        f"ix_comments_{_name}", comments, f"{_name} received_at", where=_c[_name].is_not(None)
    )
