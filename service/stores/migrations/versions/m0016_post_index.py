"""Find a post's comments by an index, for whoever reads them at the site."""

from __future__ import annotations

from service.stores.migrations.online import create_index_online, drop_index_online

revision = "m0016"
down_revision = "m0015"
branch_labels = None
depends_on = None

online = True


def upgrade() -> None:
    """Apply the change."""
    create_index_online(
        "ix_comments_post",
        "comments",
        ["site_id", "post_url"],
        where="length(post_url) <= 500",
    )


def downgrade() -> None:
    """Take the change back."""
    drop_index_online("ix_comments_post", "comments")
