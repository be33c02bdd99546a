"""A person who moderates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A moderator's account. `must_change_password` is set while a one-time password is in force.

    `session_epoch` grows when the password changes and at signing out: every older session ends.
    """

    id: str
    name: str
    password_hash: str
    created_at: datetime
    must_change_password: bool = True
    session_epoch: int = 0
