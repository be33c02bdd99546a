"""The commands that add moderators and reset their passwords."""

from __future__ import annotations

import click

from service.commands.output import data_dir_option, json_option, print_rows
from service.moderation.users import add_user, reset_password
from service.wiring import open_services

_ACTOR = "command line"


@click.group("users")
def users_group() -> None:
    """Add moderators; reset their passwords."""


@users_group.command("add")
@click.argument("name")
@data_dir_option
@json_option
def add_command(name: str, data_dir: str | None, *, as_json: bool) -> None:
    """Add a moderator and print a one-time password, which is shown this once."""
    with open_services(data_dir=data_dir) as services:
        user, password = add_user(name, services, actor=_ACTOR)
    print_rows([{"name": user.name, "password": password}], as_json=as_json, empty="")


@users_group.command("reset")
@click.argument("name")
@data_dir_option
@json_option
def reset_command(name: str, data_dir: str | None, *, as_json: bool) -> None:
    """Give a moderator a new one-time password and end their sessions."""
    with open_services(data_dir=data_dir) as services:
        password = reset_password(name, services, actor=_ACTOR)
    print_rows([{"name": name, "password": password}], as_json=as_json, empty="")


@users_group.command("list")
@data_dir_option
@json_option
def list_command(data_dir: str | None, *, as_json: bool) -> None:
    """List the moderators."""
    with open_services(data_dir=data_dir) as services:
        rows = [
            {
                "name": user.name,
                "one_time_password": user.must_change_password,
                "created_at": user.created_at.isoformat(timespec="seconds"),
            }
            for user in services.users.all()
        ]
    print_rows(rows, as_json=as_json, empty="There are no moderators; `slopsieve users add NAME`.")
