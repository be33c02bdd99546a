"""A moderator's sessions and their second factor."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

# A moderator's working day; use starts it anew.
IDLE_LIFETIME = timedelta(hours=12)
# However busy it was: a forgotten browser is signed out some day.
LONGEST_LIFETIME = timedelta(days=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSession:
    """One browser in which a moderator is signed in.

    `browser` is a short label made of the user agent. Addresses are not kept.
    """

    id: str
    user_id: str
    created_at: datetime
    last_seen_at: datetime
    browser: str = ""
    ended_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        """Return True if the session is still valid."""
        if self.ended_at is not None or now - self.created_at >= LONGEST_LIFETIME:
            return False
        return now - self.last_seen_at < IDLE_LIFETIME


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondFactor:
    """A second factor (TOTP, RFC 6238) that its account has proved to have.

    `seed` are random hexadecimal digits from which, with a secret that is not kept beside them,
    the shared secret is made. `last_step` is the newest time step whose code was used.
    """

    user_id: str
    seed: str = field(repr=False)
    since: datetime
    last_step: int = 0
