"""Adds moderators, hands out, checks and changes their passwords, ends their sessions."""

from __future__ import annotations

from dataclasses import replace

from service.domain.errors import (
    InvalidInputError,
    NotAuthenticatedError,
    NotFoundError,
    Problem,
)
from service.domain.user import User
from service.moderation.acts import record_act
from service.ports import Services

MIN_PASSWORD_CHARS = 12
_MAX_PASSWORD_CHARS = 1_000
_MAX_NAME_CHARS = 60
# Verified in place of a real hash when a name is unknown, so that both answers take as long.
_DECOY_PASSWORD = "no account has this password"  # noqa: S105  # opens nothing


def add_user(name: str, services: Services, *, actor: str) -> tuple[User, str]:
    """Keep a new moderator and return the account with its one-time password.

    Raises `InvalidInputError` for an unusable name and `ConflictError` for a taken one.
    """
    name = name.strip()
    if not name or len(name) > _MAX_NAME_CHARS or not name.isprintable():
        problem = Problem(
            field="name",
            problem="is empty, too long or has unprintable characters",
            remedy=f"give 1 to {_MAX_NAME_CHARS} printable characters",
        )
        raise InvalidInputError([problem])
    password = services.new_secret()
    user = User(
        id=services.new_id("user"),
        name=name,
        password_hash=services.passwords.hash(password),
        created_at=services.clock(),
    )
    services.users.add(user)
    record_act(services, actor=actor, act="add user", subject=user.id)
    return user, password


def reset_password(name: str, services: Services, *, actor: str) -> str:
    """Give a moderator a new one-time password and end their sessions.

    Raises `NotFoundError` for an unknown name.
    """
    user = services.users.find(name)
    if user is None:
        msg = f"there is no moderator called {name!r}"
        raise NotFoundError(msg)
    password = services.new_secret()
    _set_password(user, password, services, must_change=True)
    record_act(services, actor=actor, act="reset password", subject=user.id)
    return password


def authenticate_user(name: str, password: str, services: Services) -> User:
    """Return the account if the password fits. Raises `NotAuthenticatedError` otherwise."""
    user = services.users.find(name)
    password = password[:_MAX_PASSWORD_CHARS]
    if user is None:
        services.passwords.hash(_DECOY_PASSWORD)
    elif services.passwords.verify(user.password_hash, password):
        return user
    msg = "name and password do not fit"
    raise NotAuthenticatedError(msg)


def end_sessions(user: User, services: Services) -> None:
    """Sign a moderator out wherever they are signed in, and whoever holds a copy of the cookie.

    Raises `StoreUnavailableError`; the sessions go on then.
    """
    services.users.end_sessions(user.id)


def change_password(user: User, *, old: str, new: str, services: Services) -> User:
    """Replace a password by the moderator's own and end older sessions; return the account.

    Raises `InvalidInputError` that names everything wrong with either password.
    """
    problems = []
    if not services.passwords.verify(user.password_hash, old[:_MAX_PASSWORD_CHARS]):
        problems.append(
            Problem(field="old", problem="is not the password", remedy="enter the present one")
        )
    if not MIN_PASSWORD_CHARS <= len(new) <= _MAX_PASSWORD_CHARS:
        problems.append(
            Problem(
                field="new",
                problem=f"has {len(new)} characters",
                remedy=f"choose {MIN_PASSWORD_CHARS} to {_MAX_PASSWORD_CHARS} characters",
            )
        )
    elif new == old:
        problems.append(
            Problem(field="new", problem="is the old one", remedy="choose another password")
        )
    if problems:
        raise InvalidInputError(problems)
    changed = _set_password(user, new, services, must_change=False)
    record_act(services, actor=user.name, act="change password", subject=user.id)
    return changed


def _set_password(user: User, password: str, services: Services, *, must_change: bool) -> User:
    changed = replace(
        user,
        password_hash=services.passwords.hash(password),
        must_change_password=must_change,
        session_epoch=user.session_epoch + 1,
    )
    services.users.replace(changed)
    return changed
