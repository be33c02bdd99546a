"""What another version says of comments: in the shadow of the one that serves, or of an archive."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "m0013"
down_revision = "m0012"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_MOMENT = sa.BigInteger().with_variant(sa.TIMESTAMP(timezone=True), "postgresql")
_INDEXES = (
    ("ix_opinions_version", ["model_version", "formed_at"]),
    ("ix_opinions_age", ["formed_at"]),
    ("ix_opinions_counted", ["model_version", "received_at", "site_id", "verdict", "outcome"]),
    ("ix_opinions_seen", ["model_version", "origin", "judged_at", "site_id"]),
)


def upgrade() -> None:
    """Apply the change."""
    op.create_table(
        "opinions",
        sa.Column("comment_id", _TEXT, nullable=False),
        sa.Column("model_version", _TEXT, nullable=False),
        sa.Column("origin", _TEXT, nullable=False),
        sa.Column("outcome", _TEXT, nullable=False),
        sa.Column("p_spam", sa.Double(), nullable=False),
        sa.Column("formed_at", _MOMENT, nullable=False),
        sa.Column("site_id", _TEXT, nullable=False),
        sa.Column("received_at", _MOMENT, nullable=False),
        sa.Column("judged_at", _MOMENT, nullable=False),
        sa.Column("verdict", _TEXT, nullable=False),
        sa.Column("differs", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("comment_id", "model_version", name="pk_opinions"),
        sa.ForeignKeyConstraint(["comment_id"], ["comments.id"], name="fk_opinions_comment_id"),
    )
    for name, columns in _INDEXES:
        op.create_index(name, "opinions", columns)
    op.create_index(
        "ix_opinions_differing",
        "opinions",
        ["model_version", "comment_id"],
        sqlite_where=sa.text("differs IS 1"),
        postgresql_where=sa.text("differs IS true"),
    )
    op.create_table(
        "back_scorings",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("model_version", _TEXT, nullable=False),
        sa.Column("site_ids", sa.JSON()),
        sa.Column("since", _MOMENT),
        sa.Column("until", _MOMENT, nullable=False),
        sa.Column("asked_by", _TEXT, nullable=False),
        sa.Column("asked_at", _MOMENT, nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=False),
        sa.Column("cursor", _TEXT),
        sa.Column("cut", sa.Boolean(), nullable=False),
        sa.Column("chunks", sa.BigInteger(), nullable=False),
        sa.Column("ended_at", _MOMENT),
        sa.Column("problem", _TEXT),
        sa.PrimaryKeyConstraint("id", name="pk_back_scorings"),
    )
    op.create_table(
        "back_scoring_chunks",
        sa.Column("job_id", _TEXT, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("after", _TEXT),
        sa.Column("last", _TEXT, nullable=False),
        sa.Column("comments", sa.Integer(), nullable=False),
        sa.Column("queued_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("job_id", "number", name="pk_back_scoring_chunks"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["back_scorings.id"], name="fk_back_scoring_chunks_job_id"
        ),
    )


def downgrade() -> None:
    """Take the change back."""
    op.drop_table("back_scoring_chunks")
    op.drop_table("back_scorings")
    op.drop_index("ix_opinions_differing", "opinions")
    for name, _ in reversed(_INDEXES):
        op.drop_index(name, "opinions")
    op.drop_table("opinions")
