"""Adds, changes and ends accounts; at least one owner always remains."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from service.domain.campaign import CAMPAIGN_POLICY
from service.domain.comment import SiteId
from service.domain.decision import EDIT_POLICY
from service.domain.errors import (
    ConflictError,
    InvalidInputError,
    NotAuthenticatedError,
    NotFoundError,
    Problem,
    invalid_input,
)
from service.domain.unseen import is_printable
from service.domain.user import Preferences, Role, User, is_mail_address
from service.moderation.acts import make_act
from service.ports.audit import AuditEntry
from service.ports.services import Services

MIN_PASSWORD_CHARS = 12
MAX_PASSWORD_CHARS = 1_000
MAX_NAME_CHARS = 60
# Verified in place of a real hash if the name is unknown, so that both responses take as long.
_DECOY_PASSWORD = "no account has this password"  # noqa: S105  # opens nothing
_WRONG_PASSWORD = Problem("old", "is not the password", "enter the present one")


class LastOwnerError(ConflictError):
    """No owner would be left to create another."""


def refuse_access(
    role: Role, site_ids: Sequence[SiteId] | None, services: Services
) -> list[Problem]:
    """Return the problems of a role at these sites; None means all sites."""
    problems: list[Problem] = []
    if site_ids is None:
        return problems
    if role is Role.OWNER:
        remedy = "let an owner see all sites, or choose another role"
        problems.append(Problem("site_ids", "limit an owner, who runs the whole place", remedy))
    if not site_ids or not {site.id for site in services.sites.all()}.issuperset(site_ids):
        remedy = "name one or more sites, or let the account see all of them"
        problems.append(Problem("site_ids", "name no site, or one that is not there", remedy))
    return problems


def set_access(
    user_id: str, services: Services, *, role: Role, site_ids: Sequence[SiteId] | None, actor: str
) -> User:
    """Change role and sites (None: all). Raises `InvalidInputError`, `LastOwnerError`."""
    problems = refuse_access(role, site_ids, services)
    if problems:
        raise InvalidInputError(problems)
    named = None if site_ids is None else tuple(dict.fromkeys(site_ids))
    change = _keeping_an_owner(lambda user: replace(user, role=role, site_ids=named))
    detail = f"{role.value}; {'all sites' if named is None else ', '.join(named)}"
    act = make_act(services, actor=actor, act="set access", subject=user_id, detail=detail)
    return services.users.change(user_id, change, act=act)


def end_user(user_id: str, services: Services, *, actor: str) -> User:
    """End an account and its sessions at once. Raises `LastOwnerError`, `NotFoundError`."""
    act = make_act(services, actor=actor, act="end user", subject=user_id)
    change = _keeping_an_owner(lambda user: replace(user, ended_at=user.ended_at or act.at))
    return services.users.change(user_id, change, end_sessions_at=act.at, act=act)


def restore_user(user_id: str, services: Services, *, actor: str) -> tuple[User, str]:
    """Return a restored account and its one-time password. Raises `ConflictError`."""
    password = services.new_secret()
    password_hash = services.passwords.hash(password)

    def change(user: User, _: Sequence[User]) -> User:
        if user.ended_at is None:
            raise ConflictError("this account has not ended")
        return replace(user, ended_at=None, password_hash=password_hash, must_change_password=True)

    act = make_act(services, actor=actor, act="restore user", subject=user_id)
    return services.users.change(user_id, change, act=act), password


def set_preferences(user: User, preferences: Preferences, services: Services) -> User:
    return services.users.change(user.id, lambda now, _: replace(now, preferences=preferences))


def set_mail(user: User, address: str, services: Services) -> User:
    """Set an account's address for digests, none if empty. Raises `InvalidInputError`."""
    address = address.strip()
    if address and not is_mail_address(address):
        remedy = "write it as name@example.org, in ASCII letters"
        raise invalid_input("mail", "is no email address", remedy)
    return services.users.change(
        user.id,
        lambda now, _: replace(now, preferences=replace(now.preferences, mail=address or None)),
        act=make_act(services, actor=user.name, act="set mail address", subject=user.id),
    )


def _keeping_an_owner(how: Callable[[User], User]) -> Callable[[User, Sequence[User]], User]:
    """Return a change that raises `LastOwnerError` if it would leave no owner of all sites."""

    def owns(user: User) -> bool:
        return user.role is Role.OWNER and user.site_ids is None and user.ended_at is None

    def change(user: User, everybody: Sequence[User]) -> User:
        changed = how(user)
        others_own = any(owns(one) for one in everybody if one.id != user.id)
        if owns(user) and not owns(changed) and not others_own:
            raise LastOwnerError("this is the last owner: make somebody else an owner first")
        return changed

    return change


def add_user(
    name: str,
    services: Services,
    *,
    actor: str,
    role: Role | None = None,
    site_ids: Sequence[SiteId] | None = None,
) -> tuple[User, str]:
    """Add an account and return it with its one-time password.

    Without `role` the first account is an owner, later ones are moderators. Raises
    `InvalidInputError`, `ConflictError` if the name exists.
    """
    name = name.strip()
    if role is None:
        role = Role.MODERATOR if services.users.all() else Role.OWNER
    problems = [*_name_problems(name), *refuse_access(role, site_ids, services)]
    if problems:
        raise InvalidInputError(problems)
    password = services.new_secret()
    user = User(
        id=services.new_id("user"),
        name=name,
        password_hash=services.passwords.hash(password),
        created_at=services.clock(),
        role=role,
        site_ids=None if site_ids is None else tuple(dict.fromkeys(site_ids)),
    )
    act = make_act(services, actor=actor, act="add user", subject=user.id, detail=role.value)
    services.users.add(user, act=act)
    return user, password


def _name_problems(name: str) -> list[Problem]:
    if name.casefold() == CAMPAIGN_POLICY or name.casefold().startswith(EDIT_POLICY):
        return [Problem("name", "is what a policy signs its decisions with", "choose another one")]
    if name and len(name) <= MAX_NAME_CHARS and is_printable(name):
        return []
    remedy = f"give 1 to {MAX_NAME_CHARS} printable characters"
    return [Problem("name", "is empty, too long or has unprintable characters", remedy)]


def find_user(name: str, services: Services) -> User:
    """Return the account with this name. Raises `NotFoundError` if there is none."""
    user = services.users.find(name)
    if user is None:
        raise NotFoundError(f"there is no moderator called {name!r}")
    return user


def reset_password(name: str, services: Services, *, actor: str) -> str:
    """Return a new one-time password and end all sessions. Raises `NotFoundError`."""
    user = find_user(name, services)
    password = services.new_secret()
    act = make_act(services, actor=actor, act="reset password", subject=user.id)
    _set_password(user, password, services, act, must_change=True)
    return password


def authenticate_user(name: str, password: str, services: Services) -> User:
    """Return the account, unless it has ended. Raises `NotAuthenticatedError`."""
    user = services.users.find(name)
    password = password[:MAX_PASSWORD_CHARS]
    if user is None:
        services.passwords.hash(_DECOY_PASSWORD)
    elif services.passwords.verify(user.password_hash, password) and user.ended_at is None:
        return user
    raise NotAuthenticatedError("name and password do not fit")


def check_password(user: User, password: str, services: Services) -> bool:
    return services.passwords.verify(user.password_hash, password[:MAX_PASSWORD_CHARS])


def change_password(user: User, services: Services, *, old: str, new: str) -> User:
    """Replace the password and end all sessions. Raises `InvalidInputError` with all problems."""
    problems = []
    if not check_password(user, old, services):
        problems.append(_WRONG_PASSWORD)
    if not MIN_PASSWORD_CHARS <= len(new) <= MAX_PASSWORD_CHARS:
        remedy = f"choose {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters"
        problems.append(Problem("new", f"has {len(new)} characters", remedy))
    elif new == old:
        problems.append(Problem("new", "is the old one", "choose another password"))
    if problems:
        raise InvalidInputError(problems)
    act = make_act(services, actor=user.name, act="change password", subject=user.id)
    return _set_password(user, new, services, act, must_change=False, instead_of=user.password_hash)


def _set_password(
    user: User,
    password: str,
    services: Services,
    act: AuditEntry,
    *,
    must_change: bool,
    instead_of: str | None = None,
) -> User:
    """Set a password and end the earlier sessions, in one transaction with `act`.

    Raises `InvalidInputError` unless `instead_of` is stored, so that no concurrent reset is undone.
    """
    password_hash = services.passwords.hash(password)

    def change(now: User, _: Sequence[User]) -> User:
        if instead_of not in (None, now.password_hash):
            raise InvalidInputError([_WRONG_PASSWORD])
        return replace(now, password_hash=password_hash, must_change_password=must_change)

    return services.users.change(user.id, change, end_sessions_at=act.at, act=act)
