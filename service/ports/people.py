"""Accounts, their sessions and second factors; what is held about a person."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol


class SpamOnly(StrEnum):
    """Which spam to look for: all that no decision in force approves, or what is held as spam."""

    NOT_APPROVED = "not approved"
    HELD = "held"


class PasswordHasher(Protocol):
    """Turns passwords into slow, salted hashes."""

    def hash(self, password: str) -> str:
        """Return a salted hash that is slow to guess from."""

    def verify(self, password_hash: str, password: str) -> bool:
        """Return True if the password matches this hash."""
