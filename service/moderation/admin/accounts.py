"""Changes accounts' rights, ends and restores them; one owner always remains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.domain.comment import SiteId
from service.domain.digest import is_mail_address
from service.domain.errors import ConflictError, InvalidInputError, Problem
from service.domain.user import Preferences, Role, User, is_above
from service.moderation.admin.acts import make_act
from service.ports.services import Services


class LastOwnerError(ConflictError):
    """There would be no owner left, and nobody who could make another."""


class AboveOwnRoleError(ConflictError):
    """Nobody gives a role above their own, nor changes an account that has one."""


def refuse_above(role: Role, actor_role: Role) -> None:
    """Raise `AboveOwnRoleError` if `role` is mightier than that of whoever acts."""
    if is_above(role, actor_role):
        msg = f"the role {role} is above that of whoever acts, {actor_role}"
        raise AboveOwnRoleError(msg)


def refuse_access(
    role: Role, site_ids: Sequence[SiteId] | None, services: Services
) -> list[Problem]:
    """Return what is wrong with a role at these sites; None stands for all sites."""
    if site_ids is None:
        return []
    problems = []
    if role is Role.OWNER:
        problems.append(
            Problem(
                "site_ids",
                "limit an owner, who runs the whole place",
                "let an owner see all sites, or choose another role",
            )
        )
    known = {site.id for site in services.sites.all()}
    if not site_ids or any(site_id not in known for site_id in site_ids):
        problems.append(
            Problem(
                "site_ids",
                "name no site, or one that is not there",
                "name one or more sites, or let the account see all of them",
            )
        )
    return problems


def set_access(
    user_id: str,
    services: Services,
    *,
    role: Role,
    site_ids: Sequence[SiteId] | None,
    actor: str,
    actor_role: Role = Role.OWNER,
) -> User:
    """Give an account another role, or other sites (None: all); return it as it is then.

    Raises `InvalidInputError` for sites that cannot be, `LastOwnerError`, `AboveOwnRoleError`,
    `NotFoundError`.
    """
    problems = refuse_access(role, site_ids, services)
    if problems:
        raise InvalidInputError(problems)
    refuse_above(role, actor_role)
    named = None if site_ids is None else tuple(dict.fromkeys(site_ids))

    def change(user: User, everybody: Sequence[User]) -> User:
        refuse_above(user.role, actor_role)
        changed = replace(user, role=role, site_ids=named)
        _keep_an_owner(changed, everybody)
        return changed

    where = "all sites" if named is None else ", ".join(named)
    act = make_act(
        services, actor=actor, act="set access", subject=user_id, detail=f"{role.value}; {where}"
    )
    return services.users.change(user_id, change, act=act)


def end_user(
    user_id: str, services: Services, *, actor: str, actor_role: Role = Role.OWNER
) -> User:
    """End an account and its sessions at once; return it. Ending it twice changes nothing.

    Raises `LastOwnerError`, `AboveOwnRoleError`, `NotFoundError`.
    """
    at = services.clock()

    def change(user: User, everybody: Sequence[User]) -> User:
        refuse_above(user.role, actor_role)
        changed = replace(user, ended_at=user.ended_at or at)
        _keep_an_owner(changed, everybody)
        return changed

    act = make_act(services, actor=actor, act="end user", subject=user_id)
    return services.users.change(user_id, change, end_sessions_at=at, act=act)


def restore_user(
    user_id: str, services: Services, *, actor: str, actor_role: Role = Role.OWNER
) -> tuple[User, str]:
    """Let an ended account back in, with a new one-time password; return both.

    Raises `ConflictError` for one that has not ended, `AboveOwnRoleError`, `NotFoundError`.
    """
    password = services.new_secret()
    password_hash = services.passwords.hash(password)

    def change(user: User, _: Sequence[User]) -> User:
        refuse_above(user.role, actor_role)
        if user.ended_at is None:
            raise ConflictError("this account has not ended")
        return replace(user, ended_at=None, password_hash=password_hash, must_change_password=True)

    act = make_act(services, actor=actor, act="restore user", subject=user_id)
    return services.users.change(user_id, change, act=act), password


def set_preferences(user: User, preferences: Preferences, services: Services) -> User:
    """Keep how a person likes the pages; return their account."""
    return services.users.change(user.id, lambda now, _: replace(now, preferences=preferences))


def set_mail(user: User, address: str, services: Services) -> User:
    """Keep where an account is sent digests, nowhere for an empty address; return the account.

    Raises `InvalidInputError` for what is no email address.
    """
    address = address.strip()
    if address and not is_mail_address(address):
        problem = Problem(
            "mail", "is no email address", "write it as name@example.org, in ASCII letters"
        )
        raise InvalidInputError([problem])
    return services.users.change(
        user.id,
        lambda now, _: replace(now, preferences=replace(now.preferences, mail=address or None)),
        act=make_act(services, actor=user.name, act="set mail address", subject=user.id),
    )


def _keep_an_owner(changed: User, everybody: Sequence[User]) -> None:
    """Raise `LastOwnerError` if nobody could run the place after this change."""
    after = [changed if user.id == changed.id else user for user in everybody]
    if any(_runs_the_place(user) for user in everybody) and not any(map(_runs_the_place, after)):
        raise LastOwnerError("this is the last owner: make somebody else an owner first")


def _runs_the_place(user: User) -> bool:
    return user.role is Role.OWNER and user.site_ids is None and user.ended_at is None
