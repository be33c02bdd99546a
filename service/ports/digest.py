"""What carries the daily digest: mail, a chat room, and a note of who has today's."""

from __future__ import annotations

from typing import Protocol

from service.domain.digest import Mail, Sent


class Mailer(Protocol):
    """Sends mail."""

    def send(self, mail: Mail) -> Sent:
        """Hand one mail to the mail server; end in time, whatever it does. Never raises."""


class Room(Protocol):
    """Posts to the chat room that this installation is set up for."""

    def post(self, text: str) -> Sent:
        """Post one message; end in time, whatever the other side does. Never raises."""


class DigestClaims(Protocol):
    """Remembers for a day who was sent a digest."""

    def claim(self, digest: str) -> bool:
        """Return True for the first call of several, also at once, that name the same digest.

        Raises `StoreUnavailableError`.
        """

    def release(self, digest: str) -> None:
        """Let the next call have it. Raises `StoreUnavailableError`."""
