"""The commands about accounts: the way in, and the way out when the last owner lost everything."""

from __future__ import annotations

from collections.abc import Sequence

import click

from service.commands.opening import ACTOR, open_services
from service.commands.output import data_dir_option, json_option, print_rows
from service.commands.sites import find_site
from service.domain.comment import SiteId
from service.domain.user import Role, User
from service.moderation.admin.accounts import end_user, restore_user, set_access
from service.moderation.admin.second_factor import turn_off_second_factor
from service.moderation.admin.users import add_user, find_user, reset_password
from service.ports.services import AccountsPorts, CommonPorts

_role_option = click.option(
    "--role", type=click.Choice([role.value for role in Role]), default=None, help="What it may do."
)
_site_option = click.option(
    "--site",
    "site_names",
    multiple=True,
    help="A site it sees, by name or id; may be repeated. Without, all sites.",
)


@click.group("users")
def users_group() -> None:
    """Add moderators; change what they may do; reset their passwords."""


@users_group.command("add")
@click.argument("name")
@_role_option
@_site_option
@data_dir_option
@json_option
def add_command(
    name: str,
    role: str | None,
    site_names: tuple[str, ...],
    data_dir: str | None,
    *,
    as_json: bool,
) -> None:
    """Add a moderator and print a one-time password, which is shown this once.

    The first account of all is the owner's.
    """
    with open_services(data_dir=data_dir) as services:
        user, password = add_user(
            name,
            services.accounts,
            services.common,
            actor=ACTOR,
            role=Role(role) if role else None,
            site_ids=_site_ids(site_names, services.common),
        )
    row = {"name": user.name, "role": user.role.value, "password": password}
    print_rows([row], as_json=as_json)


@users_group.command("set")
@click.argument("name")
@_role_option
@_site_option
@click.option("--all-sites", is_flag=True, help="Let it see all sites, those to come too.")
@click.option("--no-second-factor", is_flag=True, help="Turn a lost second factor off.")
@data_dir_option
def set_command(
    name: str,
    role: str | None,
    site_names: tuple[str, ...],
    data_dir: str | None,
    *,
    all_sites: bool,
    no_second_factor: bool,
) -> None:
    """Change what an account may do, or turn its second factor off."""
    if all_sites and site_names:
        raise click.UsageError("Give --site or --all-sites, not both.")
    with open_services(data_dir=data_dir) as services:
        user = find_user(name, services.accounts)
        if role or site_names or all_sites:
            wanted = Role(role) if role else user.role
            sites = _site_ids(site_names, services.common) if site_names else user.site_ids
            # An owner sees all sites.
            sites = None if all_sites or (wanted is Role.OWNER and not site_names) else sites
            set_access(
                user.id,
                services.accounts,
                services.common,
                role=wanted,
                site_ids=sites,
                actor=ACTOR,
            )
        if no_second_factor:
            turn_off_second_factor(user, services.accounts, services.common, actor=ACTOR)
        row = _row(find_user(name, services.accounts), services.accounts)
    print_rows([row], as_json=False)


@users_group.command("reset")
@click.argument("name")
@data_dir_option
@json_option
def reset_command(name: str, data_dir: str | None, *, as_json: bool) -> None:
    """Give a moderator a new one-time password and end their sessions.

    A second factor stays on; `slopsieve users set NAME --no-second-factor` turns it off.
    """
    with open_services(data_dir=data_dir) as services:
        password = reset_password(name, services.accounts, services.common, actor=ACTOR)
    print_rows([{"name": name, "password": password}], as_json=as_json)


@users_group.command("end")
@click.argument("name")
@data_dir_option
def end_command(name: str, data_dir: str | None) -> None:
    """End an account and its sessions at once; `restore` lets it back in."""
    with open_services(data_dir=data_dir) as services:
        end_user(
            find_user(name, services.accounts).id, services.accounts, services.common, actor=ACTOR
        )
    click.echo("The account has ended, and so have its sessions.")


@users_group.command("restore")
@click.argument("name")
@data_dir_option
@json_option
def restore_command(name: str, data_dir: str | None, *, as_json: bool) -> None:
    """Let an ended account back in, and print a one-time password, this once."""
    with open_services(data_dir=data_dir) as services:
        user, password = restore_user(
            find_user(name, services.accounts).id, services.accounts, services.common, actor=ACTOR
        )
    print_rows([{"name": user.name, "password": password}], as_json=as_json)


@users_group.command("list")
@data_dir_option
@json_option
def list_command(data_dir: str | None, *, as_json: bool) -> None:
    """List the accounts, those that have ended too."""
    with open_services(data_dir=data_dir) as services:
        rows = [_row(user, services.accounts) for user in services.accounts.users.all()]
    print_rows(rows, as_json=as_json, empty="There are no moderators; `slopsieve users add NAME`.")


def _row(user: User, accounts: AccountsPorts) -> dict[str, object]:
    seen = accounts.sessions.last_seen().get(user.id)
    return {
        "name": user.name,
        "role": user.role.value,
        "sites": "all" if user.site_ids is None else " ".join(user.site_ids),
        "second_factor": accounts.second_factors.get(user.id) is not None,
        "one_time_password": user.must_change_password,
        "created_at": user.created_at,
        "last_seen_at": seen,
        "ended_at": user.ended_at,
    }


def _site_ids(names: Sequence[str], common: CommonPorts) -> tuple[SiteId, ...] | None:
    return tuple(find_site(name, common).id for name in names) or None
