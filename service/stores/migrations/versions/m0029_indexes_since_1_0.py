"""Add indexes for held spam, an account's comments and verdicts that rules held."""

import sqlalchemy as sa
from alembic import op

revision = "m0029"
down_revision = "m0024"

_UNDECIDED_SPAM = sa.text(
    "outcome = 'spam' AND review_rank = 2 AND decided IS false AND withdrawn_at IS NULL"
)
_INDEXES = (
    (
        "ix_comments_undecided_spam",
        "comments",
        ["site_id", "p_spam", "received_at", "id"],
        _UNDECIDED_SPAM,
    ),
    (
        "ix_comments_account",
        "comments",
        ["sender_account_key", "outcome", "decided", "received_at"],
        sa.text("sender_account_key IS NOT NULL"),
    ),
    ("ix_verdicts_held", "verdicts", ["comment_id"], sa.text("held_by IS NOT NULL")),
)


def upgrade() -> None:
    """Apply the change."""
    for name, table, columns, where in _INDEXES:
        op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)
