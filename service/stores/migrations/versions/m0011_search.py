"""Find comments by their words, and keep views."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "m0011"
down_revision = "m0010"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SENDER_COLUMNS = (
    "sender_address_key",
    "sender_network_key",
    "sender_email_key",
    "sender_name_key",
)


def upgrade() -> None:
    """Apply the change. What is kept already becomes findable later, a portion at a time."""
    _make_search()
    # Comments that were withdrawn have no words to be found by.
    op.execute(
        "INSERT INTO search_due (comment_id) SELECT id FROM comments WHERE withdrawn_at IS NULL"
    )
    op.create_table(
        "saved_views",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("owner_id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("query", _TEXT, nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_saved_views"),
    )
    op.create_index("ix_saved_views_owner_id", "saved_views", ["owner_id"])
    for column in _SENDER_COLUMNS:
        has_key = sa.text(f"{column} IS NOT NULL")
        op.create_index(
            f"ix_comments_{column}",
            "comments",
            [column, "received_at"],
            sqlite_where=has_key,
            postgresql_where=has_key,
        )


def downgrade() -> None:
    """Take the change back."""
    for column in _SENDER_COLUMNS:
        op.drop_index(f"ix_comments_{column}", "comments")
    op.drop_table("saved_views")
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE search_fts")
    op.drop_table("search_docs")
    op.drop_table("search_due")


def _make_search() -> None:
    op.create_table(
        "search_due",
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("comment_id", name="pk_search_due"),
    )
    op.create_table(
        "search_docs",
        sa.Column("seq", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("terms", sa.Text().with_variant(TSVECTOR(), "postgresql"), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_search_docs"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_search_docs_comment_id"),
        sa.ForeignKeyConstraint(["site_id"], ["sites.id"], name="fk_search_docs_site_id"),
        sa.UniqueConstraint("comment_id", name="uq_search_docs_comment_id"),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.create_index("ix_search_docs_terms", "search_docs", ["terms"], postgresql_using="gin")
    else:
        # Beginnings of three letters, after the letter for the kind, have an index of their own:
        # FTS5 would merge all words that begin so before it yields the first comment.
        # The words come folded already, so that only ASCII's separators matter to the tokenizer.
        op.execute(
            "CREATE VIRTUAL TABLE search_fts USING fts5("
            "terms, content='search_docs', content_rowid='seq', columnsize=0, prefix='4', "
            "tokenize=\"ascii tokenchars '._-'\")"
        )
