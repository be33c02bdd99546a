"""Add the index for the list of held spam."""

from service.stores.migrations.online import create_index_online, drop_index_online

revision = "m0025"
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


def downgrade() -> None:
    """Undo the change."""
    drop_index_online("ix_comments_undecided_spam", "comments")
