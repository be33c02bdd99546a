"""Begins, keeps and ends moderators' sessions."""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from datetime import timedelta

from service.domain.errors import StoreUnavailableError
from service.domain.user import IDLE_LIFETIME, LONGEST_LIFETIME, User, UserSession
from service.moderation.admin.acts import make_act
from service.ports.audit import AuditEntry
from service.ports.services import Services

log = logging.getLogger(__name__)

# Seldom enough to cost nothing, often enough to tell a session in use from a forgotten one.
_SEEN_EVERY = timedelta(minutes=5)
_KEEP_ENDED = timedelta(days=90)
_MOST_AT_ONCE = 1_000
# In this order: an Edge calls itself Chrome and Safari too, a Chrome Safari.
_BROWSERS = (
    ("Firefox", ("firefox/", "fxios/")),
    ("Edge", ("edg/", "edga/", "edgios/")),
    ("Opera", ("opr/",)),
    ("Chrome", ("chrome/", "chromium/", "crios/")),
    ("Safari", ("safari/",)),
    ("curl", ("curl/",)),
)
# A phone's system names the one that it is made of as well.
_SYSTEMS = (
    ("Android", "android"),
    ("iPhone", "iphone"),
    ("iPad", "ipad"),
    ("Windows", "windows"),
    ("macOS", "mac os"),
    ("Chrome OS", "cros"),
    ("Linux", "linux"),
)
_MAX_AGENT_CHARS = 500
_SPACES = re.compile(r"\s+")


def name_browser(user_agent: str | None) -> str:
    """Return a short label in words of ours, such as "Firefox on Linux"; empty if none fits.

    Versions and everything else that would tell two people with one browser apart is left out.
    """
    agent = _SPACES.sub(" ", (user_agent or "")[:_MAX_AGENT_CHARS]).lower()
    browser = next((name for name, marks in _BROWSERS if any(m in agent for m in marks)), "")
    system = next((name for name, mark in _SYSTEMS if mark in agent), "")
    return f"{browser} on {system}" if browser and system else browser or system


def begin_session(user: User, services: Services, *, user_agent: str | None) -> UserSession:
    """Keep that an account has signed in, and return its new session.

    `user` is the account as its password was checked. Raises `NotAuthenticatedError` if it has
    another one by now, or has ended: what ended its sessions ends this one, too.
    """
    now = services.clock()
    session = UserSession(
        id=services.new_id("ses"),
        user_id=user.id,
        created_at=now,
        last_seen_at=now,
        browser=name_browser(user_agent),
    )
    services.sessions.add(session, password_hash=user.password_hash)
    return session


def find_session(session_id: str, services: Services) -> tuple[UserSession, User] | None:
    """Return a session that is still open, with its account as it is now; None otherwise.

    It is remembered as used, at most every five minutes. Raises `StoreUnavailableError`.
    """
    now = services.clock()
    session = services.sessions.get(session_id)
    if session is None or not session.is_open(now):
        return None
    user = services.users.get(session.user_id)
    if user is None or user.ended_at is not None:
        return None
    if now - session.last_seen_at >= _SEEN_EVERY:
        # A page that only shows something is shown although nothing can be written now.
        with suppress(StoreUnavailableError):
            services.sessions.touch(session.id, at=now)
    return session, user


def list_sessions(user: User, services: Services) -> list[UserSession]:
    """Return the account's sessions that are open, the one used last first."""
    now = services.clock()
    return [session for session in services.sessions.open_of(user.id) if session.is_open(now)]


def end_session(session_id: str, user: User, services: Services) -> bool:
    """End one of the account's own sessions, for whoever holds a copy of its cookie too.

    Return whether that was still to be done. Raises `StoreUnavailableError`; it goes on then.
    """
    return services.sessions.end(session_id, user_id=user.id, at=services.clock())


def end_other_sessions(session_id: str, user: User, services: Services) -> int:
    """End all sessions of the account but this one; return how many."""

    def act(ended: int) -> AuditEntry:
        return make_act(
            services, actor=user.name, act="end other sessions", subject=user.id, detail=str(ended)
        )

    return services.sessions.end_all(
        user.id, at=services.clock(), except_session=session_id, act=act
    )


def prune_sessions(services: Services) -> int:
    """Delete sessions that were last used 90 days ago; return how many, at most 1,000."""
    before = services.clock() - max(_KEEP_ENDED, IDLE_LIFETIME, LONGEST_LIFETIME)
    pruned = services.sessions.prune(seen_before=before, limit=_MOST_AT_ONCE)
    if pruned:
        log.info("old sessions were deleted", extra={"sessions": pruned})
    return pruned
