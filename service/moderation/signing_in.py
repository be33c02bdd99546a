"""Begins and ends moderators' sessions, and checks their second factors.

Codes are those of TOTP (RFC 6238). The shared secret is not stored: it is derived from a stored
random seed, and a secret of the instance that is not in the database.
"""

import base64
import hashlib
import hmac
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import pyotp

from service.domain.errors import NotAuthenticatedError, StoreUnavailableError, invalid_input
from service.domain.user import SESSIONS_KEPT, SecondFactor, User, UserSession
from service.moderation.acts import counting_act, make_act
from service.ports.audit import AuditEntry
from service.ports.services import Services

log = logging.getLogger(__name__)

# In this order: Edge names Chrome and Safari too, Chrome names Safari.
_BROWSERS = (
    ("Firefox", ("firefox/", "fxios/")),
    ("Edge", ("edg/", "edga/", "edgios/")),
    ("Opera", ("opr/",)),
    ("Chrome", ("chrome/", "chromium/", "crios/")),
    ("Safari", ("safari/",)),
    ("curl", ("curl/",)),
)
# A phone's system also names the system that it is based on.
_SYSTEMS = (
    ("Android", "android"),
    ("iPhone", "iphone"),
    ("iPad", "ipad"),
    ("Windows", "windows"),
    ("macOS", "mac os"),
    ("Chrome OS", "cros"),
    ("Linux", "linux"),
)


def name_browser(user_agent: str | None) -> str:
    """Return a short label such as "Firefox on Linux", without version; empty if none fits."""
    agent = " ".join((user_agent or "")[:500].split()).lower()
    browser = next((name for name, marks in _BROWSERS if any(m in agent for m in marks)), "")
    system = next((name for name, mark in _SYSTEMS if mark in agent), "")
    return f"{browser} on {system}" if browser and system else browser or system


def begin_session(user: User, services: Services, *, user_agent: str | None) -> UserSession:
    """Begin a session. Raises `NotAuthenticatedError` if password or account ended meanwhile."""
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
    """Return an open session with its present account, None otherwise.

    Its last use is stored, at most every five minutes. Raises `StoreUnavailableError`.
    """
    now = services.clock()
    session = services.sessions.get(session_id)
    if session is None or not session.is_open(now):
        return None
    user = services.users.get(session.user_id)
    if user is None or user.ended_at is not None:
        return None
    if now - session.last_seen_at >= timedelta(minutes=5):
        # Pages that only read must work while nothing can be written.
        with suppress(StoreUnavailableError):
            services.sessions.touch(session.id, at=now)
    return session, user


def list_sessions(user: User, services: Services) -> list[UserSession]:
    """Return the account's open sessions, the last used first."""
    now = services.clock()
    return [session for session in services.sessions.open_of(user.id) if session.is_open(now)]


def end_session(session_id: str, user: User, services: Services) -> bool:
    """End one of the account's own sessions, also for copies of its cookie.

    Returns True unless it had ended before. Raises `StoreUnavailableError`; then it stays open.
    """
    return services.sessions.end(session_id, user_id=user.id, at=services.clock())


def end_other_sessions(session_id: str, user: User, services: Services) -> int:
    """End all sessions of the account but this one; return how many."""
    act = counting_act(services, actor=user.name, act="end other sessions", subject=user.id)
    return services.sessions.end_all(
        user.id, at=services.clock(), except_session=session_id, act=act
    )


def prune_sessions(services: Services) -> int:
    """Delete sessions not used for `SESSIONS_KEPT`; return how many, at most 1,000."""
    before = services.clock() - SESSIONS_KEPT
    pruned = services.sessions.prune(seen_before=before, limit=1_000)
    if pruned:
        log.info("old sessions were deleted", extra={"sessions": pruned})
    return pruned


STEP_SECONDS = 30
# RFC 4226 recommends this for HMAC-SHA-1, and some apps read no more.
_SECRET_BYTES = 20
# No code is longer; the rest is not read.
_MAX_TYPED_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A second factor that is not on yet: the QR code's content, and the same as text."""

    seed: str = field(repr=False)
    uri: str = field(repr=False)
    secret: str = field(repr=False)


def offer_second_factor(user: User, services: Services, *, seed: str | None = None) -> Offer:
    """Return a second factor to set up; a seed gives the one that was offered with it."""
    if seed is None:
        seed = hashlib.sha256(services.new_secret().encode()).hexdigest()[:40]
    secret = _secret_of(seed, user.id, services)
    uri = pyotp.TOTP(secret).provisioning_uri(name=user.name, issuer_name="Slopsieve")
    return Offer(seed=seed, uri=uri, secret=secret)


def turn_on_second_factor(
    user: User, services: Services, *, seed: str, code: str
) -> tuple[str, ...]:
    """Return ten recovery codes, which are stored as hashes. Raises `InvalidInputError`."""
    step = _step_of(code, seed, user.id, services)
    if step is None:
        raise invalid_input("code", "does not fit", "type the code that the app shows now")
    factor = SecondFactor(user_id=user.id, seed=seed, since=services.clock(), last_step=step)
    act = make_act(services, actor=user.name, act="turn on second factor", subject=user.id)
    return _put(factor, act, services)


def renew_recovery_codes(user: User, services: Services) -> tuple[str, ...]:
    """Replace the recovery codes by ten new ones. Raises `NotAuthenticatedError` without any."""
    factor = services.second_factors.get(user.id)
    if factor is None:
        raise NotAuthenticatedError("this account has no second factor")
    act = make_act(services, actor=user.name, act="renew recovery codes", subject=user.id)
    return _put(factor, act, services)


def check_second_factor(user: User, code: str, services: Services) -> None:
    """Check a code or a recovery code, which can be used only once, one step of 30 s early or late.

    Raises `NotAuthenticatedError` for a wrong or used code.
    """
    factor = services.second_factors.get(user.id)
    if factor is not None:
        step = _step_of(code, factor.seed, user.id, services)
        if step is not None and services.second_factors.use_step(user.id, step):
            return
        digest = _digest(code, user.id, services)
        name, detail = "use recovery code", "{} left"
        act = counting_act(services, actor=user.name, act=name, subject=user.id, detail=detail)
        if step is None and services.second_factors.use_recovery(user.id, digest, act=act):
            return
    raise NotAuthenticatedError("the code does not fit")


def turn_off_second_factor(user: User, services: Services, *, actor: str) -> bool:
    """Turn off an account's second factor; return True if it was on."""
    act = make_act(services, actor=actor, act="turn off second factor", subject=user.id)
    return services.second_factors.remove(user.id, act=act)


def _put(factor: SecondFactor, act: AuditEntry, services: Services) -> tuple[str, ...]:
    raw = [hashlib.sha256(services.new_secret().encode()).digest() for _ in range(10)]
    letters = [base64.b32encode(one).decode("ascii").lower() for one in raw]
    # 60 bits: far beyond guessing at any permitted rate.
    codes = tuple(f"{one[:4]}-{one[4:8]}-{one[8:12]}" for one in letters)
    digests = [_digest(code, factor.user_id, services) for code in codes]
    services.second_factors.put(factor, recovery_digests=digests, act=act)
    return codes


def _secret_of(seed: str, user_id: str, services: Services) -> str:
    raw = hmac.digest(services.second_factor_secret, f"totp:{user_id}:{seed}".encode(), "sha256")
    return base64.b32encode(raw[:_SECRET_BYTES]).decode("ascii")


def _step_of(code: str, seed: str, user_id: str, services: Services) -> int | None:
    """Return the time step of this code, None if it is not a present one."""
    typed = "".join(code[:_MAX_TYPED_CHARS].split())
    if len(typed) != 6 or not (typed.isascii() and typed.isdigit()):
        return None
    totp = pyotp.TOTP(_secret_of(seed, user_id, services), interval=STEP_SECONDS)
    now = int(services.clock().timestamp()) // STEP_SECONDS
    # All are compared, so that the time taken reveals nothing.
    steps = (now, now - 1, now + 1)
    fitting = [step for step in steps if hmac.compare_digest(totp.generate_otp(step), typed)]
    return fitting[0] if fitting else None


def _digest(code: str, user_id: str, services: Services) -> str:
    """Return the stored hash of a recovery code, however its groups were typed."""
    plain = "".join(c for c in code[:_MAX_TYPED_CHARS].lower() if c.isalnum())
    raw = f"recovery:{user_id}:{plain}".encode("utf-8", "replace")
    return hmac.new(services.second_factor_secret, raw, hashlib.sha256).hexdigest()
