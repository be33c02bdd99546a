"""Keep the counts of how a form was filled in, and what became of its token."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "m0017"
down_revision = "m0016"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_COLUMNS: tuple[tuple[str, sa.types.TypeEngine[Any]], ...] = (
    ("form_behaviour", sa.JSON()),
    ("form_token", _TEXT),
)


def upgrade() -> None:
    """Apply the change."""
    for name, kind in _COLUMNS:
        op.add_column("comments", sa.Column(name, kind))


def downgrade() -> None:
    """Take the change back."""
    for name, _ in reversed(_COLUMNS):
        op.drop_column("comments", name)
