"""Turns a second factor on, checks its codes, and turns it off.

Codes are those of TOTP (RFC 6238) as authenticator apps make them: six digits, HMAC-SHA-1, a new
one every 30 seconds. The shared secret is kept nowhere: it is made of a random seed, which is, and
of a secret of the instance, which does not lie in the database.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass, field

import pyotp

from service.domain.errors import InvalidInputError, NotAuthenticatedError, Problem
from service.domain.user import Role, SecondFactor, User
from service.moderation.admin.accounts import refuse_above
from service.moderation.admin.acts import make_act
from service.ports.audit import AuditEntry
from service.ports.services import Services

STEP_SECONDS = 30
_ISSUER = "Slopsieve"
# What RFC 4226 recommends for HMAC-SHA-1, and all that some apps read.
_SECRET_BYTES = 20
_SKEWS = (0, -1, 1)
_CODE_DIGITS = 6
_RECOVERY_CODES = 10
# 60 bits: far beyond guessing at any rate that is let through.
_RECOVERY_CHARS = 12
_RECOVERY_GROUP = 4
# Nothing longer is a code; the rest is not read.
_MAX_TYPED_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A second factor that is not on yet: what to scan, and what to type instead."""

    seed: str = field(repr=False)
    uri: str = field(repr=False)
    secret: str = field(repr=False)


def offer_second_factor(user: User, services: Services, *, seed: str | None = None) -> Offer:
    """Return a second factor to set up; with a seed the one that was offered with it before."""
    if seed is None:
        seed = hashlib.sha256(services.new_secret().encode()).hexdigest()[:40]
    secret = _secret_of(seed, user.id, services)
    uri = pyotp.TOTP(secret).provisioning_uri(name=user.name, issuer_name=_ISSUER)
    return Offer(seed=seed, uri=uri, secret=secret)


def turn_on_second_factor(
    user: User, services: Services, *, seed: str, code: str
) -> tuple[str, ...]:
    """Keep the offered second factor once a code proves it; return ten recovery codes.

    They are shown this once and kept as hashes. Raises `InvalidInputError` for a wrong code.
    """
    step = _step_of(code, seed, user.id, services)
    if step is None:
        problem = Problem("code", "does not fit", "type the code that the app shows now")
        raise InvalidInputError([problem])
    factor = SecondFactor(user_id=user.id, seed=seed, since=services.clock(), last_step=step)
    act = make_act(services, actor=user.name, act="turn on second factor", subject=user.id)
    return _put(factor, act, services)


def renew_recovery_codes(user: User, services: Services) -> tuple[str, ...]:
    """Replace the recovery codes by ten new ones and return them, this once.

    Raises `NotAuthenticatedError` if there is no second factor.
    """
    factor = services.second_factors.get(user.id)
    if factor is None:
        raise NotAuthenticatedError("this account has no second factor")
    act = make_act(services, actor=user.name, act="renew recovery codes", subject=user.id)
    return _put(factor, act, services)


def check_second_factor(user: User, code: str, services: Services) -> None:
    """Return if the code, or a recovery code, fits and was not used before; it is used then.

    One step of 30 seconds before and after is let through, for clocks that differ. Raises
    `NotAuthenticatedError` otherwise.
    """
    factor = services.second_factors.get(user.id)
    if factor is not None:
        step = _step_of(code, factor.seed, user.id, services)
        if step is not None and services.second_factors.use_step(user.id, step):
            return
        digest = _digest(code, user.id, services)

        def act(left: int) -> AuditEntry:
            return make_act(
                services,
                actor=user.name,
                act="use recovery code",
                subject=user.id,
                detail=f"{left} left",
            )

        if step is None and services.second_factors.use_recovery(user.id, digest, act=act):
            return
    raise NotAuthenticatedError("the code does not fit")


def turn_off_second_factor(
    user: User, services: Services, *, actor: str, actor_role: Role = Role.OWNER
) -> bool:
    """Forget an account's second factor, lost or not; return whether there was one.

    Raises `AboveOwnRoleError` for an account above the actor's.
    """
    refuse_above(user.role, actor_role)
    act = make_act(services, actor=actor, act="turn off second factor", subject=user.id)
    return services.second_factors.remove(user.id, act=act)


def _put(factor: SecondFactor, act: AuditEntry, services: Services) -> tuple[str, ...]:
    codes = tuple(_new_recovery_code(services) for _ in range(_RECOVERY_CODES))
    digests = [_digest(code, factor.user_id, services) for code in codes]
    services.second_factors.put(factor, recovery_digests=digests, act=act)
    return codes


def _secret_of(seed: str, user_id: str, services: Services) -> str:
    """Return the shared secret in Base32, as apps take it."""
    raw = hmac.new(
        services.second_factor_secret, f"totp:{user_id}:{seed}".encode(), hashlib.sha256
    ).digest()
    return base64.b32encode(raw[:_SECRET_BYTES]).decode("ascii")


def _step_of(code: str, seed: str, user_id: str, services: Services) -> int | None:
    """Return the time step whose code this is, None if it is none of the present ones."""
    typed = "".join(code[:_MAX_TYPED_CHARS].split())
    if len(typed) != _CODE_DIGITS or not (typed.isascii() and typed.isdigit()):
        return None
    totp = pyotp.TOTP(_secret_of(seed, user_id, services), interval=STEP_SECONDS)
    now = int(services.clock().timestamp()) // STEP_SECONDS
    # All are compared, whichever fits, so that the time taken tells nothing.
    fitting = [
        now + skew for skew in _SKEWS if hmac.compare_digest(totp.generate_otp(now + skew), typed)
    ]
    return fitting[0] if fitting else None


def _new_recovery_code(services: Services) -> str:
    raw = hashlib.sha256(services.new_secret().encode()).digest()
    letters = base64.b32encode(raw).decode("ascii").lower()[:_RECOVERY_CHARS]
    groups = range(0, _RECOVERY_CHARS, _RECOVERY_GROUP)
    return "-".join(letters[start : start + _RECOVERY_GROUP] for start in groups)


def _digest(code: str, user_id: str, services: Services) -> str:
    """Return what a recovery code is kept as, however its groups were typed."""
    plain = "".join(c for c in code[:_MAX_TYPED_CHARS].lower() if c.isalnum())
    raw = f"recovery:{user_id}:{plain}".encode("utf-8", "replace")
    return hmac.new(services.second_factor_secret, raw, hashlib.sha256).hexdigest()
