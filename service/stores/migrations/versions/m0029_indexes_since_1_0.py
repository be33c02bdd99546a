"""Add indexes for held spam, an account's comments and verdicts that rules held."""

from service.stores.migrations.online import create_index_online

revision = "m0029"
down_revision = "m0024"

online = True


def upgrade() -> None:
    """Apply the change."""
    create_index_online(
        "ix_comments_undecided_spam",
        "comments",
        ["site_id", "p_spam", "received_at", "id"],
        where="outcome = 'spam' AND review_rank = 2 AND decided IS false AND withdrawn_at IS NULL",
    )
    create_index_online(
        "ix_comments_account",
        "comments",
        ["sender_account_key", "outcome", "decided", "received_at"],
        where="sender_account_key IS NOT NULL",
    )
    create_index_online("ix_verdicts_held", "verdicts", ["comment_id"], where="held_by IS NOT NULL")
