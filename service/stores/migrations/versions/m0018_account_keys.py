"""Keep by what an account is known again, how far its site trusts it, and what an edit did."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "m0018"
down_revision = "m0017"
branch_labels = None
depends_on = None

_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_COLUMNS: tuple[tuple[str, sa.types.TypeEngine[Any]], ...] = (
    ("author_trust_level", sa.BigInteger()),
    ("sender_account_key", _TEXT),
    ("edit", _TEXT),
)


def upgrade() -> None:
    """Apply the change."""
    for name, kind in _COLUMNS:
        op.add_column("comments", sa.Column(name, kind))


def downgrade() -> None:
    """Take the change back."""
    for name, _ in reversed(_COLUMNS):
        op.drop_column("comments", name)
