"""Hashes moderators' passwords with Argon2id."""

from __future__ import annotations

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError


class Argon2PasswordHasher:
    """Hashes with the parameters that RFC 9106 recommends; see `PasswordHasher`."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()

    def hash(self, password: str) -> str:
        """See `PasswordHasher.hash`."""
        return self._hasher.hash(_encoded(password))

    def verify(self, password_hash: str, password: str) -> bool:
        """See `PasswordHasher.verify`; a hash that cannot be read fits no password."""
        try:
            return self._hasher.verify(password_hash, _encoded(password))
        except (VerificationError, InvalidHashError):
            return False


def _encoded(password: str) -> bytes:
    # A form can carry lone surrogates; they are as good as any other character.
    return password.encode("utf-8", "surrogatepass")
