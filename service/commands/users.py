"""The commands for accounts and the audit log."""

from collections.abc import Sequence
from dataclasses import asdict

import click

from service.commands import opening, output
from service.domain.comment import SiteId
from service.domain.user import SESSIONS_KEPT, Role, User
from service.moderation import accounts
from service.moderation.signing_in import turn_off_second_factor
from service.ports.services import Services

_role_option = click.option("--role", type=opening.ByValue(Role), help="What the account may do.")
_site_option = click.option(
    "--site",
    "sites",
    multiple=True,
    help="A site that it sees, by name or id; may be repeated. By default all.",
)

users_group = click.Group("users")


@users_group.command("add")
@click.argument("name")
@_role_option
@_site_option
@opening.with_json_services
def users_add(services: Services, name: str, role: Role | None, sites: tuple[str, ...]) -> None:
    """Add a moderator and print a one-time password, which is shown only once.

    The first account is the owner's.
    """
    ids = _site_ids(sites, services)
    user, password = accounts.add_user(name, services, actor=opening.ACTOR, role=role, site_ids=ids)
    output.print_rows([{**output.columns(user, "name", "role"), "password": password}])


@users_group.command("set")
@click.argument("name")
@_role_option
@_site_option
@click.option("--all-sites", is_flag=True, help="Let it see all sites, including future ones.")
@click.option("--no-second-factor", is_flag=True, help="Turn a lost second factor off.")
@opening.with_services
def users_set(
    services: Services,
    name: str,
    role: Role | None,
    sites: tuple[str, ...],
    *,
    all_sites: bool,
    no_second_factor: bool,
) -> None:
    """Change an account's role and sites, or turn its second factor off."""
    if all_sites and sites:
        raise click.UsageError("Give --site or --all-sites, not both.")
    user = accounts.find_user(name, services)
    if role or sites or all_sites:
        wanted = role or user.role
        site_ids = _site_ids(sites, services) if sites else user.site_ids
        # An owner sees all sites.
        if all_sites or (wanted is Role.OWNER and not sites):
            site_ids = None
        accounts.set_access(user.id, services, role=wanted, site_ids=site_ids, actor=opening.ACTOR)
    if no_second_factor:
        turn_off_second_factor(user, services, actor=opening.ACTOR)
    output.print_rows(_rows([accounts.find_user(name, services)], services))


@users_group.command("reset")
@click.argument("name")
@opening.with_json_services
def users_reset(services: Services, name: str) -> None:
    """Give a moderator a new one-time password and end their sessions.

    A second factor stays on; `slopsieve users set NAME --no-second-factor` turns it off.
    """
    password = accounts.reset_password(name, services, actor=opening.ACTOR)
    output.print_rows([{"name": name, "password": password}])


@users_group.command("end")
@click.argument("name")
@opening.with_services
def users_end(services: Services, name: str) -> None:
    """End an account and its sessions at once; `restore` reopens it."""
    user = accounts.find_user(name, services)
    accounts.end_user(user.id, services, actor=opening.ACTOR)
    click.echo("The account has ended, and so have its sessions.")


@users_group.command("restore")
@click.argument("name")
@opening.with_json_services
def users_restore(services: Services, name: str) -> None:
    """Restore an ended account, and print a one-time password, which is shown only once."""
    user = accounts.find_user(name, services)
    _, password = accounts.restore_user(user.id, services, actor=opening.ACTOR)
    output.print_rows([{"name": user.name, "password": password}])


@users_group.command("list")
@opening.with_json_services
def users_list(services: Services) -> None:
    """List the accounts, including ended ones."""
    rows = _rows(services.users.all(), services)
    output.print_rows(rows, empty="There are no moderators; `slopsieve users add NAME`.")


def _rows(users: Sequence[User], services: Services) -> list[dict[str, object]]:
    last_seen, factors = services.sessions.last_seen(), services.second_factors.user_ids()
    return [
        {
            **output.columns(user, "name", "role"),
            "sites": "all" if user.site_ids is None else " ".join(user.site_ids),
            "second_factor": user.id in factors,
            "one_time_password": user.must_change_password,
            "created_at": user.created_at,
            "last_seen_at": last_seen.get(user.id) or _unseen(user, services),
            "ended_at": user.ended_at,
        }
        for user in users
    ]


def _unseen(user: User, services: Services) -> str | None:
    if output.prints_json():
        return None
    is_new = user.created_at > services.clock() - SESSIONS_KEPT
    return "never" if is_new else f"not in the last {SESSIONS_KEPT.days} days"


def _site_ids(names: Sequence[str], services: Services) -> tuple[SiteId, ...] | None:
    return tuple(opening.find_site(name, services).id for name in names) or None


@click.command("audit")
@click.option("--subject", help="Only acts on this comment, site, key or user.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@opening.with_json_services
def audit_command(services: Services, subject: str | None, limit: int) -> None:
    """List the newest acts of moderators and operators."""
    entries = services.audit_log.recent(subject=subject, limit=limit)
    output.print_rows([asdict(entry) for entry in entries], empty="Nothing has been done yet.")
