"""Store the rules that held a comment, a post's date, second opinions and appeals."""

import sqlalchemy as sa
from alembic import op

revision = "m0028"
down_revision = "m0027"

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")


def upgrade() -> None:
    """Apply the change."""
    op.add_column("verdicts", sa.Column("held_by", sa.JSON(none_as_null=True)))
    op.add_column("comments", sa.Column("post_published_at", _MOMENT))
    op.add_column("comments", sa.Column("second_opinion", sa.JSON(none_as_null=True)))
    op.add_column("comments", sa.Column("appeal", _TEXT))
    op.add_column("comments", sa.Column("appealed_at", _MOMENT))


def downgrade() -> None:
    """Undo the change. Comments that rules held stay unsure; open appeals are closed."""
    op.execute(
        "UPDATE comments SET review_rank = CASE WHEN outcome = 'unsure' AND NOT decided THEN 0 "
        "ELSE 2 END WHERE review_rank = -1"
    )
    for name in ("appealed_at", "appeal", "second_opinion", "post_published_at"):
        op.drop_column("comments", name)
    op.drop_column("verdicts", "held_by")
