"""Store digests of the text that a person ruled on, to compare edits with."""

import sqlalchemy as sa
from alembic import op

revision = "m0026"
down_revision = "m0025"

comments = sa.table("comments", sa.column("edit", sa.Text()))


def upgrade() -> None:
    """Apply the change."""
    op.add_column("comments", sa.Column("ruled_text", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    """Undo the change. Edits of kinds unknown to earlier versions become `unapproved`."""
    op.execute(
        comments.update()
        .where(comments.c.edit.in_(["rejected", "by_staff"]))
        .values(edit="unapproved")
    )
    op.drop_column("comments", "ruled_text")
