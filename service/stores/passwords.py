"""Hashes passwords with Argon2id."""

import argon2
from argon2.exceptions import InvalidHashError, VerificationError


class PasswordHasher:
    """Hashes passwords with the parameters that RFC 9106 recommends."""

    def __init__(self) -> None:
        self._hasher = argon2.PasswordHasher()

    def hash(self, password: str) -> str:
        return self._hasher.hash(password.encode("utf-8", "surrogatepass"))

    def verify(self, password_hash: str, password: str) -> bool:
        """Return True if the password matches; an unreadable hash matches none."""
        try:
            return self._hasher.verify(password_hash, password.encode("utf-8", "surrogatepass"))
        except (VerificationError, InvalidHashError):
            return False
